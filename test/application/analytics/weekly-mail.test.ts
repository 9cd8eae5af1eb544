/** Weekly mails through a real SMTP server: one per week and address, none of missed weeks, none to who may not see them. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createMailer } from '../../../adapters/outbound/mail/smtp.js';
import { sitesAggregate } from '../../../application/analytics/aggregates.js';
import type { Reports } from '../../../application/analytics/report.js';
import { createSiteDirectory } from '../../../application/analytics/sites.js';
import { createWeeklyMails, endSubscriptionReaction } from '../../../application/analytics/weekly-mail.js';
import { catalog, siteSubject, subscriptionSubject } from '../../../domain/analytics/catalog.js';
import { count, emptyDay, summaryOf } from '../../../domain/analytics/day.js';
import { buildReport, type Period } from '../../../domain/analytics/report.js';
import { SITES, type SitesCommand } from '../../../domain/analytics/sites.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { changeSite, deleteSite, registerSite, talliesOf } from '../../support/analytics-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';
import { context } from '../../support/toy-service.js';

const DAY_MS = 86_400_000;
const SUNDAY = Date.UTC(2026, 10, 22, 12);
const MONDAY = Date.UTC(2026, 10, 23, 8);
const ADA = { addressId: 'ada', email: 'ada@example.org' };

/** A week with 3 views after one with 2. */
function reportOf(period: Period) {
  const [days, before] = [new Map([[period.end, emptyDay()]]), emptyDay()];
  const views = ['/seeds', '/seeds', '/<b>&'].map((path) => ({
    path,
    referrer: 'https://news.example',
    country: 'DE',
  }));
  count(days.get(period.end)!, views, ['0000000000000001'], SUNDAY);
  count(before, [{ path: '/a' }, { path: '/b' }], ['0000000000000001', '0000000000000002'], SUNDAY);
  const previousDay = new Date(Date.parse(period.start) - DAY_MS).toISOString().slice(0, 10);
  const { lists, names } = talliesOf(days);
  const summaries = new Map([
    [period.end, summaryOf(days.get(period.end)!)],
    [previousDay, summaryOf(before)],
  ]);
  const steps = buildReport(period, {
    isPreviousComplete: true,
    summaries: (day) => summaries.get(day),
    lists: (day) => lists.get(day),
    names,
  });
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

describe('weekly mails', function () {
  this.timeout(60_000);
  let office: PostOffice;
  let mailer: ReturnType<typeof createMailer>;
  let world: ReturnType<typeof memoryWorld>;
  let now: number;
  let allowed: Set<string>;
  let reportFailure: Error | undefined;
  let isReportPending: boolean;
  const { signal } = new AbortController();

  beforeEach(async () => {
    office = await startPostOffice();
    const server = { host: '127.0.0.1', port: office.port, secure: false, isLocal: true, maxRetries: 1 };
    mailer = createMailer({ ...server, from: 'Stats <stats@example.org>', logger: silentLogger });
    world = memoryWorld();
    now = SUNDAY;
    allowed = new Set([ADA.email]);
    reportFailure = undefined;
    isReportPending = false;
    const { vault } = memoryKernel(world, [catalog]);
    for (const instance of ['one', 'two']) await vault.create(siteSubject({ instance }));
    await onSites({ ...registerSite('demo'), now: SUNDAY - 100 * DAY_MS } as SitesCommand);
    await onSites(changeSite('demo', { name: 'Seeds & <Co>' }));
  });
  afterEach(async () => {
    await mailer?.close();
    office?.stop();
  });

  const onSites = (command: SitesCommand) =>
    memoryKernel(world, [catalog]).handle(sitesAggregate, SITES, command, context());

  /** Another node of the world each time. */
  function node(withMailer = true) {
    const kernel = memoryKernel(world, [catalog]);
    const mails = createWeeklyMails({
      ...kernel,
      context: kernel.systemContext,
      logger: silentLogger,
      clock: { now: () => now, confirmedNow: async () => now, inSync: () => true },
      directory: createSiteDirectory(kernel.aggregates),
      reports: (async (site: string, period: Period) => {
        if (reportFailure) throw reportFailure;
        const body = { site, generatedAt: '', ...reportOf(period) };
        return { body, ...(isReportPending && { consistency: 'pending' }) };
      }) as unknown as Reports,
      mailer: withMailer ? mailer : undefined,
      isAllowed: (email) => allowed.has(email),
      appUrl: () => 'https://stats.example/below/',
    });
    return { ...kernel, mails };
  }
  const subscribe = async (of = ADA) => {
    const done = await node().mails.subscribe('demo', of, 'UTC', context());
    if (isRejection(done)) throw new Error(done.rejected);
  };
  const sendDue = (of = node()) => of.mails.sendDue(signal);

  it('has visitors, views, changes, top lists and links, in text and HTML', async () => {
    await subscribe();
    now = MONDAY;
    await sendDue();
    const { subject, text, html, listUnsubscribe, listUnsubscribePost, link } = await office.letterTo(ADA.email);
    expect(subject).to.equal('Seeds & <Co>: 1 visitor in the week to 22 November 2026');
    expect(text).to.contain('Visitors: 1 (-50 %, from 2 in the week before)');
    expect(text).to.contain('Page views: 3 (+50 %, from 2 in the week before)');
    expect(text).to.match(
      /Pages\s+2 {2}\/seeds\s+1 {2}\/<b>&\s+Referrers\s+3 {2}news\.example\s+Countries\s+3 {2}Germany/,
    );
    expect(html).to.contain('/&lt;b&gt;&amp;').and.to.contain('Seeds &amp; &lt;Co&gt;').and.not.contain('<b>');
    expect(link.href).to.equal('https://stats.example/below/?site=demo&start=2026-11-16&end=2026-11-22');
    const [unsubscribe = ''] = /https:\S+unsubscribe\S+/.exec(text) ?? [];
    expect(listUnsubscribe).to.equal(`<${unsubscribe}>`);
    expect(html).to.contain(`href="${unsubscribe}"`);
    expect(listUnsubscribePost).to.equal('List-Unsubscribe=One-Click');
    expect(JSON.stringify(world.all, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.to.contain(
      'example.org',
    );
  });

  it('is sent once a week, also after repeated runs, and not for missed weeks', async () => {
    await subscribe();
    await sendDue();
    expect(office.letters).to.have.lengthOf(0);
    now = MONDAY;
    await sendDue();
    await sendDue();
    await Promise.all([sendDue(), sendDue()]);
    expect(office.letters).to.have.lengthOf(1);
    // The service was away for five weeks.
    now = MONDAY + 37 * DAY_MS;
    await Promise.all([sendDue(), sendDue()]);
    await sendDue();
    expect(office.letters).to.have.lengthOf(2);
    expect(office.letters[1]?.link.searchParams.get('end')).to.equal('2026-12-27');
    expect(new Set(office.letters.map(({ messageId }) => messageId)).size).to.equal(2);
  });

  it('is sent later if its report fails, and given up if the mail server refuses it', async () => {
    await subscribe();
    now = MONDAY;
    reportFailure = new Error('not now');
    let failed = '';
    await sendDue().catch(({ message }) => (failed = message));
    expect([failed, office.letters.length]).to.deep.equal(['not now', 0]);
    reportFailure = undefined;
    office.refuse(1, 554);
    await sendDue();
    await sendDue();
    expect([office.refused(), office.letters.length]).to.deep.equal([1, 0]);
  });

  it('waits until the report includes all hits', async () => {
    await subscribe();
    now = MONDAY;
    isReportPending = true;
    let failed = '';
    await sendDue().catch(({ message }) => (failed = message));
    expect([failed, office.letters.length]).to.deep.equal(['the report is behind the event log', 0]);
    isReportPending = false;
    await sendDue();
    expect(office.letters).to.have.lengthOf(1);
  });

  it('is sent by a node that has not received the site yet', async () => {
    const late = node();
    await late.mails.find('demo', ADA);
    await onSites({ ...registerSite('new', 'two'), now: SUNDAY } as SitesCommand);
    const subscribed = await node().mails.subscribe('new', ADA, 'UTC', context());
    expect(isRejection(subscribed)).to.equal(false);
    now = MONDAY;
    await sendDue(late);
    expect(office.letters).to.have.lengthOf(1);
  });

  it('is not sent to an address that may not sign in any more, until it may again', async () => {
    await subscribe();
    allowed.clear();
    now = MONDAY;
    await sendDue();
    expect(office.letters).to.have.lengthOf(0);
    allowed.add(ADA.email);
    await sendDue();
    expect(office.letters).to.have.lengthOf(1);
  });

  it('ends by the link in the mail, whose subscription becomes unreadable', async () => {
    await subscribe();
    now = MONDAY;
    await sendDue();
    const [, token = ''] = /unsubscribe\?token=(\S+)>/.exec((await office.letterTo(ADA.email)).listUnsubscribe) ?? [];
    for (const wrong of ['', 'x', `${token}x`, token.slice(0, -1)])
      expect(await node().mails.unsubscribeByToken(wrong, () => context())).to.include({ kind: 'not-found' });
    for (let n = 0; n < 2; n++)
      expect(isRejection(await node().mails.unsubscribeByToken(token, () => context()))).to.equal(false);
    expect(await node().mails.find('demo', ADA)).to.equal(false);
    now += 7 * DAY_MS;
    await sendDue();
    expect(office.letters).to.have.lengthOf(1);
    const { vault } = node();
    const subscriptionId = token.split('.')[0] ?? '';
    await endSubscriptionReaction(vault).on.WeeklyMailUnsubscribed({
      data: { subscriptionId, unsubscribedAt: now },
    } as never);
    expect(await vault.seal(subscriptionSubject({ subscriptionId }), {})).to.equal(undefined);
    // A new subscription gets mails again.
    await subscribe();
    now += 7 * DAY_MS;
    await sendDue();
    expect(office.letters).to.have.lengthOf(2);
  });

  it('ends with its site, also if the id is used again', async () => {
    await subscribe();
    await onSites(deleteSite('demo'));
    await onSites(registerSite('demo', 'two'));
    now = MONDAY;
    await sendDue();
    expect(office.letters).to.have.lengthOf(0);
    expect(world.all.at(-1)?.type).to.equal('analytics.WeeklyMailUnsubscribed.v1');
  });

  it('is refused without address, mail server, valid time zone or site', async () => {
    const refused = async (...[id, who, zone, mail]: [string, typeof ADA | undefined, string, boolean?]) =>
      (await node(mail).mails.subscribe(id, who, zone, context())) as { rejected?: string };
    expect((await refused('demo', undefined, 'UTC')).rejected).to.equal('analytics/no-address');
    expect((await refused('demo', ADA, 'UTC', false)).rejected).to.equal('analytics/no-mail');
    expect((await refused('demo', ADA, 'Moon/Crater')).rejected).to.equal('analytics/bad-time-zone');
    expect((await refused('none', ADA, 'UTC')).rejected).to.equal('analytics/site-not-found');
  });
});
