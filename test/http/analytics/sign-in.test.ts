/** Signing in to the dashboard over HTTP: mailed links, and the session cookie. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createSignedTokens } from '../../../adapters/crypto/signed-tokens.js';
import { createLogins } from '../../../application/analytics/login.js';
import type { Derivation } from '../../../application/ports/index.js';
import { loginsSubjectOf } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { ask } from '../../support/http-spec.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';

const APP = 'https://stats.example/below';
/** Signs like the nodes. */
const signedBy = ({ derivation }: { readonly derivation: Derivation }) =>
  createSignedTokens(derivation.secret('analytics.signing'));
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
  /** Requests a link, for a new address unless given; resolves with the token in the mail. */
  async function requestLink(email = `p${++count}@team.example`) {
    await request(email).thenAnswered(202);
    const { link } = await office.letterTo(email);
    return { email, link, token: link.searchParams.get('token') ?? '' };
  }
  async function signIn() {
    const { email, token } = await requestLink();
    const { headers } = await verify({ token }).thenAnswered(200);
    const set = headers.get('set-cookie') ?? '';
    return { email, set, cookie: set.split(';')[0] ?? '' };
  }

  it('is described in /config.json', async () => {
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

  it('mails a link to allowed addresses only, and answers alike for all', async () => {
    const { email, link } = await requestLink('ada@example.org');
    expect(link.href.startsWith('https://stats.example/below/?token=')).to.equal(true);
    expect(link.searchParams.get('email')).to.equal(email);
    const unknown = await request('eve@elsewhere.example').thenAnswered(202);
    const allowed = await request(' P0@Team.Example ').thenAnswered(202);
    expect(unknown.body).to.deep.equal(allowed.body);
    expect(unknown.body.message).to.be.a('string');
    await office.letterTo('p0@team.example');
    expect(office.letters.filter(({ to }) => to.includes('eve@elsewhere.example'))).to.deep.equal([]);
    for (const nobody of [undefined, '', '  ', 7]) await request(nobody).thenRefused(400);
  });

  it('rejects addresses that combine an allowed address with another', async () => {
    for (const email of [
      'eve@elsewhere.example,p@team.example',
      'team.example',
      'eve@elsewhere.example <p@team.example',
    ])
      await request(email).thenAnswered(202);
    // Mails are sent in order, so waiting for this one waits for those before it.
    await requestLink();
    expect(office.letters.flatMap(({ to }) => to).filter((to) => !/^(p\d+@team|ada@example)/.test(to))).to.deep.equal(
      [],
    );
  });

  it('sets a session cookie, once for each link', async () => {
    const { email, token } = await requestLink();
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

  it('rejects links that were replaced, altered, missing or for another address', async () => {
    const { email, token } = await requestLink();
    await verify({ token, email: 'ada@example.org' }).thenRefused(401);
    await verify({ token: `${token.slice(0, -4)}AAAA` }).thenRefused(401);
    await verify({ token: 'none' }).thenRefused(401);
    await verify({}).thenRefused(400);
    await request(email).thenAnswered(202);
    const { link } = await office.letterTo(email, 2);
    await verify({ token }).thenRefused(401);
    await verify({ token: link.searchParams.get('token') }).thenAnswered(200);
  });

  it('accepts the session on every node until it is signed out', async () => {
    const { email, cookie } = await signIn();
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

  it("allows changes with the cookie only from the service's own pages", async () => {
    const { cookie } = await signIn();
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

  it('renews a session once half of its time has passed, and only once', async () => {
    const { kernel } = nodes.observer;
    const clock = { ...kernel.clock, now: () => Date.now() - 4 * 86_400_000 };
    const before = createLogins({ ...kernel, signed: signedBy(kernel), clock, isAllowed: () => true });
    const { email, token } = await requestLink();
    const opened = await before.verify(token, email, kernel.systemContext('test'));
    if (isRejection(opened)) throw new Error(opened.detail);
    const old = { cookie: `annals_analytics_session=${opened.token}` };
    const me = (headers: { readonly cookie: string }) => when('GET', '/api/auth/me', { headers }).thenAnswered(200);
    expect((await me(old)).headers.get('set-cookie')).to.equal(
      `${old.cookie}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure`,
    );
    expect((await me(old)).headers.get('set-cookie')).to.equal(null);
    const { cookie } = await signIn();
    expect((await me({ cookie })).headers.get('set-cookie')).to.equal(null);
  });

  it('works on a day whose login key was destroyed early by a fast clock', async () => {
    const { kernel } = nodes.observer;
    const day = Math.floor(Date.now() / DAY_MS) + 20;
    await kernel.vault.destroy(loginsSubjectOf(day));
    const logins = createLogins({
      ...kernel,
      signed: signedBy(kernel),
      clock: { now: () => day * DAY_MS },
      isAllowed: () => true,
    });
    const outcome = await logins.request(`p${++count}@team.example`, kernel.systemContext('test'));
    expect(isRejection(outcome)).to.equal(false);
  });

  it('closes the live view when its session ends', async () => {
    const site = await nodes.site();
    const { cookie } = await signIn();
    const live = await fetch(`${nodes.bases[1]}/api/live?site=${site}`, { headers: { cookie } });
    expect(live.status).to.equal(200);
    await ask(nodes.bases[0]!, 'POST', '/api/auth/logout', { headers: { cookie, ...own } });
    expect(await live.text()).to.contain('"SIGNED_OUT"');
  });
});
