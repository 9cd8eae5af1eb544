/** Signing in to the dashboard by the contract: links that are mailed, and the session of the cookie. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createLogins } from '../../../application/analytics/login.js';
import { loginsSubjectOf } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/chat-client.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';

const APP = 'https://stats.example/below';
const DAY_MS = 86_400_000;

describe('signing in to the dashboard', function () {
  this.timeout(60_000);
  let office: PostOffice;
  const flags: { [flag: string]: string } = {
    '--analytics-app-url': APP,
    '--analytics-allowed-emails': 'ada@example.org',
    '--analytics-allowed-domains': 'team.example',
    '--email-host': '127.0.0.1',
    '--email-from': 'stats@example.org',
  };
  before(async () => {
    office = await startPostOffice();
    flags['--email-port'] = String(office.port);
  });
  after(() => office?.stop());
  const nodes = useAnalytics(flags, 2);
  const { when } = nodes;
  const own = { 'sec-fetch-site': 'same-origin' };

  const request = (email: unknown) => when('POST', '/api/auth/magic-link', { body: { email } });
  const verify = (body: object) => when('POST', '/api/auth/verify', { body });
  let count = 0;
  /** Somebody of the team whom nobody has asked for yet, and the token that was mailed. */
  async function mailed(email = `p${++count}@team.example`) {
    await request(email).thenAnswered(202);
    const { link } = await office.letterTo(email);
    return { email, link, token: link.searchParams.get('token') ?? '' };
  }
  async function signedIn() {
    const { email, token } = await mailed();
    const { headers } = await verify({ token }).thenAnswered(200);
    const set = headers.get('set-cookie') ?? '';
    return { email, set, cookie: set.split(';')[0] ?? '' };
  }

  it('is told of in /config.json', async () => {
    const { body } = await when('GET', '/config.json').thenAnswered(200);
    expect(body.auth).to.deep.equal({
      enabled: true,
      mode: 'magic-link',
      routes: {
        me: '/api/auth/me',
        magicLink: '/api/auth/magic-link',
        verify: '/api/auth/verify',
        logout: '/api/auth/logout',
      },
    });
  });

  it('begins with a link for who may come in, and with the same answer for everybody', async () => {
    const { email, link } = await mailed('ada@example.org');
    expect(link.href.startsWith('https://stats.example/below/?token=')).to.equal(true);
    expect(link.searchParams.get('email')).to.equal(email);
    const stranger = await request('eve@elsewhere.example').thenAnswered(202);
    const friend = await request(' P0@Team.Example ').thenAnswered(202);
    expect(stranger.body).to.deep.equal(friend.body);
    expect(stranger.body.message).to.be.a('string');
    await office.letterTo('p0@team.example');
    expect(office.letters.filter(({ to }) => to.includes('eve@elsewhere.example'))).to.deep.equal([]);
    for (const nobody of [undefined, '', '  ', 7]) await request(nobody).thenRefused(400);
  });

  it('mails to nobody who stands in an address beside one that may come in', async () => {
    for (const email of [
      'eve@elsewhere.example,p@team.example',
      'team.example',
      'eve@elsewhere.example <p@team.example',
    ])
      await request(email).thenAnswered(202);
    // What was asked for before is mailed before.
    await mailed();
    expect(office.letters.flatMap(({ to }) => to).filter((to) => !/^(p\d+@team|ada@example)/.test(to))).to.deep.equal(
      [],
    );
  });

  it('sets a cookie, once for a link', async () => {
    const { email, token } = await mailed();
    const { body, headers } = await verify({ token, email }).thenAnswered(200);
    expect(body).to.deep.equal({
      authenticated: true,
      user: { email, role: 'member' },
      expiresIn: 604_800,
    });
    expect(headers.get('set-cookie')).to.match(
      /^annals_analytics_session=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure$/,
    );
    await verify({ token }).thenRefused(401);
  });

  it('takes neither a former link, nor one of somebody else, nor none', async () => {
    const { email, token } = await mailed();
    await verify({ token, email: 'ada@example.org' }).thenRefused(401);
    await verify({ token: `${token.slice(0, -4)}AAAA` }).thenRefused(401);
    await verify({ token: 'none' }).thenRefused(401);
    await verify({}).thenRefused(400);
    await request(email).thenAnswered(202);
    const { link } = await office.letterTo(email, 2);
    await verify({ token }).thenRefused(401);
    await verify({ token: link.searchParams.get('token') }).thenAnswered(200);
  });

  it('lets in on every node, until it is signed out of', async () => {
    const { email, cookie } = await signedIn();
    for (const base of nodes.bases) {
      const me = await ask(base, 'GET', '/api/auth/me', { headers: { cookie: `a=b; ${cookie}` } });
      expect(me.body).to.deep.equal({
        authEnabled: true,
        authenticated: true,
        user: { email, role: 'member' },
      });
      expect((await ask(base, 'GET', '/api/sites', { headers: { cookie } })).status).to.equal(200);
    }
    const out = await ask(nodes.bases[0]!, 'POST', '/api/auth/logout', { headers: { cookie, ...own } });
    expect(out.status).to.equal(204);
    expect(out.headers.get('set-cookie')).to.match(/^annals_analytics_session=; .*Max-Age=0/);
    await when('GET', '/api/auth/me', { headers: { cookie } }).thenRefused(401);
    await eventually(
      async () => (await ask(nodes.bases[1]!, 'GET', '/api/sites', { headers: { cookie } })).status === 401,
    );
    const again = await ask(nodes.bases[0]!, 'POST', '/api/auth/logout');
    expect(again.status).to.equal(204);
    const { body } = await when('GET', '/api/auth/me').thenRefused(401);
    expect(body).to.include({ authEnabled: true, authenticated: false });
    const admin = await when('GET', '/api/auth/me', asAdmin()).thenAnswered(200);
    expect(admin.body.user).to.deep.equal({ email: null, role: 'admin' });
  });

  it('lets only the pages of the service change something with the cookie', async () => {
    const { cookie } = await signedIn();
    const make = (headers: { readonly [name: string]: string }) =>
      when('POST', '/api/sites', { body: { name: `Site ${++count}` }, headers: { cookie, ...headers } });
    for (const headers of [{}, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      await make(headers as { [name: string]: string }).thenRefused(403);
    await when('POST', '/api/auth/logout', {
      headers: { cookie, origin: 'https://evil.example' },
    }).thenRefused(403);
    await make(own).thenAnswered(201);
    await make({ origin: 'https://stats.example' }).thenAnswered(201);
    await make({ origin: nodes.bases[0] ?? '' }).thenAnswered(201);
  });

  it('lets a session of which half is over begin anew, once, and no other', async () => {
    const { kernel } = nodes.observer;
    const clock = { ...kernel.clock, now: () => Date.now() - 4 * 86_400_000 };
    const before = createLogins({ ...kernel, clock, isAllowed: () => true });
    const { email, token } = await mailed();
    const opened = await before.verify(token, email, kernel.systemContext('test'));
    if (isRejection(opened)) throw new Error(opened.detail);
    const old = { cookie: `annals_analytics_session=${opened.token}` };
    const me = (headers: { readonly cookie: string }) => when('GET', '/api/auth/me', { headers }).thenAnswered(200);
    expect((await me(old)).headers.get('set-cookie')).to.equal(
      `${old.cookie}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure`,
    );
    expect((await me(old)).headers.get('set-cookie')).to.equal(null);
    const { cookie } = await signedIn();
    expect((await me({ cookie })).headers.get('set-cookie')).to.equal(null);
  });

  it('begins with a link also on a day that a clock which was ahead has ended', async () => {
    const { kernel } = nodes.observer;
    const day = Math.floor(Date.now() / DAY_MS) + 20;
    await kernel.vault.destroy(loginsSubjectOf(day));
    const logins = createLogins({ ...kernel, clock: { now: () => day * DAY_MS }, isAllowed: () => true });
    const asked = await logins.request(`p${++count}@team.example`, kernel.systemContext('test'));
    expect(isRejection(asked)).to.equal(false);
  });

  it('ends the live view with its session', async () => {
    const site = await nodes.site();
    const { cookie } = await signedIn();
    const live = await fetch(`${nodes.bases[1]}/api/live?site=${site}`, { headers: { cookie } });
    expect(live.status).to.equal(200);
    await ask(nodes.bases[0]!, 'POST', '/api/auth/logout', { headers: { cookie, ...own } });
    expect(await live.text()).to.contain('"SIGNED_OUT"');
  });
});
