/** Weekly mails of a node: subscribing by session, a mail that is due at its start, and unsubscribing by its link. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { sitesAggregate, weeklyMailsAggregate } from '../../../application/analytics/aggregates.js';
import { analytics } from '../../../bin/services/analytics.js';
import { catalog, siteSubject, subscriptionSubject } from '../../../domain/analytics/catalog.js';
import { SITES, type SitesCommand } from '../../../domain/analytics/sites.js';
import { WEEKLY_MAILS } from '../../../domain/analytics/weekly-mail.js';
import { registerSite } from '../../support/analytics-fixtures.js';
import { ADMIN, asAdmin } from '../../support/analytics-node.js';
import { ask, httpSpec } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';
import { type ServiceKernel, startServiceKernel } from '../../support/test-kernel.js';
import { context } from '../../support/toy-service.js';

const ADA = 'ada@example.org';
const BOB = 'bob@example.org';
const DAY_MS = 86_400_000;
const PATH = '/api/sites/demo/weekly-mail';

describe('weekly mails of a node', function () {
  this.timeout(60_000);
  let office: PostOffice;
  let servers: Servers;
  let database: string;
  let observer: ServiceKernel;
  let node: RunningNode;
  const base = () => node.url('analytics');
  const { when, given } = httpSpec(base);

  /** Bob has subscribed two weeks ago; the node starts then. */
  before(async () => {
    office = await startPostOffice();
    servers = await startServers();
    database = `test_${randomUUID().slice(0, 8)}`;
    observer = await startServiceKernel({ servers, database, catalog, projections: [] });
    const { vault, handle, derivation } = observer.kernel;
    await vault.create(siteSubject({ instance: 'one' }));
    const subscription = { subscriptionId: 'bobs', siteId: 'demo', instance: 'one' };
    const address = { addressId: derivation.id('analytics.address', BOB), email: BOB, timeZone: 'Europe/Berlin' };
    const now = Date.now() - 14 * DAY_MS;
    await handle(sitesAggregate, SITES, { ...registerSite('demo'), now } as SitesCommand, context());
    await vault.create(subscriptionSubject(subscription));
    const subscribe = { type: 'SubscribeWeeklyMail', ...subscription, ...address, now } as const;
    await handle(weeklyMailsAggregate, WEEKLY_MAILS, subscribe, context());
    const flags = {
      '--analytics-port': '0',
      '--analytics-admin-token': ADMIN,
      '--analytics-allowed-domains': 'example.org',
      '--mongo-database': database,
      '--email-host': '127.0.0.1',
      '--email-port': String(office.port),
      '--email-from': 'stats@example.org',
    };
    node = await startNode([analytics], { servers, flags });
  });
  after(async () => {
    await node?.stop();
    await observer?.stop([]);
    await servers?.stop();
    office?.stop();
  });

  const own = { 'sec-fetch-site': 'same-origin' };
  async function signIn(email: string) {
    await given('POST', '/api/auth/magic-link', { body: { email } });
    const mailed = await eventually(() =>
      office.letters.find(({ to, subject }) => to[0] === email && /sign-in/.test(subject)),
    );
    const token = mailed.link.searchParams.get('token');
    const { headers } = await when('POST', '/api/auth/verify', { body: { token } }).thenAnswered(200);
    return { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' };
  }

  it('are due at the start, once, and end by a post of a mail program to their link', async () => {
    const { subject, listUnsubscribe } = await office.letterTo(BOB);
    expect(subject).to.match(/^demo: 0 visitors in the week to /);
    const link = listUnsubscribe.slice(1, -1);
    expect(link.startsWith(`${base()}/unsubscribe?token=`)).to.equal(true);
    const { cookie } = await signIn(BOB);
    const subscribed = async () => (await given('GET', PATH, { headers: { cookie } })).subscribed;
    // Opening it, as some mail servers do, ends nothing.
    const page = await fetch(link);
    expect([page.status, page.headers.get('referrer-policy')]).to.deep.equal([200, 'no-referrer']);
    expect(await subscribed()).to.equal(true);
    for (let n = 0; n < 2; n++) {
      const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });
      expect((await fetch(link, { method: 'POST', body })).status).to.equal(200);
    }
    expect(await subscribed()).to.equal(false);
    // The observer has the key in memory.
    const fresh = await startServiceKernel({ servers, database, catalog, projections: [] });
    try {
      const { seal } = fresh.kernel.vault;
      await eventually(async () => (await seal(subscriptionSubject({ subscriptionId: 'bobs' }), {})) === undefined);
    } finally {
      await fresh.stop([]);
    }
    await when('POST', '/unsubscribe?token=bobs.x').thenRefused(404, { error: /not valid/ });
    await when('POST', '/unsubscribe').thenRefused(400);
    expect(office.letters.filter(({ to, listUnsubscribe: is }) => to[0] === BOB && is !== '')).to.have.lengthOf(1);
  });

  it('go to users who signed in by mail and subscribed, from the next Monday on', async () => {
    const { cookie } = await signIn(ADA);
    const headers = { cookie, ...own };
    const body = { timeZone: 'America/New_York' };
    await when('GET', PATH, { headers }).thenAnswered(200, { subscribed: false, email: ADA });
    for (let n = 0; n < 2; n++)
      await when('PUT', PATH, { headers, body }).thenAnswered(200, { subscribed: true, email: ADA });
    await when('GET', PATH, { headers }).thenAnswered(200, { subscribed: true });
    for (let n = 0; n < 2; n++)
      await when('DELETE', PATH, { headers }).thenAnswered(200, { subscribed: false, email: ADA });
    await when('GET', PATH, { headers }).thenAnswered(200, { subscribed: false });
  });

  it('need a session, a page of the service, a site and a time zone', async () => {
    const { cookie } = await signIn('eve@example.org');
    const body = { timeZone: 'UTC' };
    await when('PUT', PATH, { body }).thenRefused(401);
    await when('PUT', PATH, { headers: { cookie }, body }).thenRefused(403);
    await when('PUT', PATH, asAdmin({ body })).thenRefused(403, { error: /mailed link/ });
    await when('GET', PATH, asAdmin()).thenAnswered(200, { subscribed: false, email: null });
    const headers = { cookie, ...own };
    for (const wrong of [{}, { timeZone: '' }, { timeZone: 'Moon/Crater' }, { timeZone: 'x'.repeat(65) }])
      await when('PUT', PATH, { headers, body: wrong }).thenRefused(400);
    for (const method of ['GET', 'PUT', 'DELETE'])
      await when(method, '/api/sites/none/weekly-mail', { headers, ...(method === 'PUT' && { body }) }).thenRefused(
        404,
      );
  });

  it('are not written in plain text', async () => {
    const events = await observer.kernel.log.read(WEEKLY_MAILS);
    expect(events.length).to.be.greaterThan(2);
    expect(JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.to.match(
      /example\.org|Berlin/,
    );
    const { body } = await ask(base(), 'GET', '/openapi.json');
    expect(Object.keys(body.paths)).to.include.members(['/unsubscribe', '/api/sites/{id}/weekly-mail']);
  });
});
