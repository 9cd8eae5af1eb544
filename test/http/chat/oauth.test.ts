/** OAuth sign-in over HTTP on two nodes: redirect, callback and attacks on them. */
import { createHash } from 'node:crypto';
import { BACKWARDS, END } from '@eventstore/db-client';
import { expect } from 'chai';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { type Chats, startChats } from '../../support/chat-scenario.js';
import { ask } from '../../support/http-spec.js';
import { away, back, granted, locationOf, type Provider, startProvider } from '../../support/oauth-provider.js';

const ada = { email: 'ada@example.org', email_verified: true, name: 'Ada Lovelace' };

/** The claims of a state, unverified. */
const claimsOf = (state: string): { readonly jti: string; readonly exp: number } =>
  JSON.parse(Buffer.from(state.split('.')[1]!, 'base64url').toString());

describe('OAuth sign-in', function () {
  this.timeout(60_000);
  let one: Provider;
  let two: Provider;
  let chats: Chats;
  let base: string;
  let other: string;

  before(async () => {
    [one, two] = await Promise.all([startProvider('one'), startProvider('two')]);
    chats = await startChats(
      2,
      {
        '--auth-app-url': 'https://chat.example/app',
        '--auth-is-invite-required': 'false',
        '--server-trusted-proxies': '127.0.0.1',
        '--oauth-presets-github-client-id': 'id',
        '--oauth-presets-github-client-secret': 'secret',
      },
      { oauth: { custom: [one.settings, two.settings] } },
    );
    [base, other] = chats.urls as [string, string];
  });
  after(async () => {
    await chats?.stop();
    one?.stop();
    two?.stop();
  });

  /** Each browser has its own network, because attempts are counted per network. */
  let networks = 0;
  const browser = () => ({ 'x-forwarded-for': `198.51.100.${++networks}` });
  const failure = (query: URLSearchParams) => query.get('oauth_error');

  it('lists the configured providers', async () => {
    const { status, body } = await ask(base, 'GET', '/auth/oauth/providers');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      providers: [
        { id: 'github', name: 'GitHub', loginUrl: '/auth/oauth/github' },
        { id: 'one', name: 'Provider one', loginUrl: '/auth/oauth/one' },
        { id: 'two', name: 'Provider two', loginUrl: '/auth/oauth/two' },
      ],
      count: 3,
    });
    const { auth } = (await ask(base, 'GET', '/config.json')).body;
    expect(auth.oauthEnabled).to.equal(true);
    expect(auth.routes).to.include({
      oauthProviders: '/auth/oauth/providers',
      oauthStart: '/auth/oauth/:providerId',
      oauthCallback: '/auth/oauth/:providerId/callback',
    });
    expect((await ask(base, 'GET', '/auth/oauth/google')).status).to.equal(404);
    expect((await ask(base, 'GET', '/auth/oauth/google/callback')).status).to.equal(404);
  });

  it('redirects to the provider with a fresh state and PKCE challenge', async () => {
    const [first, second] = [await away(base, 'one', browser()), await away(base, 'one', browser())];
    const query = Object.fromEntries(first.searchParams);
    expect(query).to.include({
      response_type: 'code',
      client_id: 'annals',
      redirect_uri: 'https://chat.example/app/auth/oauth/one/callback',
      scope: 'openid email',
      code_challenge_method: 'S256',
      prompt: 'login',
    });
    expect(Buffer.from(claimsOf(query.state!).jti, 'base64url')).to.have.length(32);
    expect(query.state).not.to.equal(second.searchParams.get('state'));
    expect(query.code_challenge).not.to.equal(second.searchParams.get('code_challenge'));
    const github = await away(base, 'github', browser());
    expect(github.origin + github.pathname).to.equal('https://github.com/login/oauth/authorize');
    expect(github.searchParams.get('scope')).to.equal('user:email read:user');
  });

  it('completes on another node, and creates a user from the profile', async () => {
    const headers = browser();
    const answer = await granted(await away(base, 'one', headers), ada);
    const callback = await ask(other, 'GET', `/auth/oauth/one/callback?${answer}`, { headers });
    expect(callback.status).to.equal(302);
    const home = locationOf(callback);
    expect(home.origin + home.pathname).to.equal('https://chat.example/app/');
    expect([...home.searchParams.keys()]).to.deep.equal(['access_token', 'refresh_token', 'expires_in']);
    expect(home.searchParams.get('expires_in')).to.equal('900');
    const token = home.searchParams.get('access_token')!;
    const { body } = await ask(base, 'GET', '/auth/me', { token });
    expect(body.user).to.include({ userName: 'Ada Lovelace', isAdmin: false });
    const refreshToken = home.searchParams.get('refresh_token');
    expect((await ask(base, 'POST', '/auth/refresh', { body: { refreshToken } })).status).to.equal(200);
    // The same email at another provider is the same user.
    const again = browser();
    const second = await back(base, 'two', await granted(await away(base, 'two', again), ada), again);
    const same = await ask(base, 'GET', '/auth/me', { token: second.get('access_token')! });
    expect(same.body.user.id).to.equal(body.user.id);
  });

  it('accepts a state once, on whichever node', async () => {
    const headers = browser();
    const answer = await granted(await away(base, 'one', headers), ada);
    const both = await Promise.all([back(base, 'one', answer, headers), back(other, 'one', answer, headers)]);
    expect(both.map(failure)).to.have.members([null, 'invalid_state']);
    expect(failure(await back(base, 'one', answer, headers))).to.equal('invalid_state');
  });

  it('expires the record of a used state one day after the state itself', async () => {
    const headers = browser();
    const answer = await granted(await away(base, 'one', headers), ada);
    await back(base, 'one', answer, headers);
    const client = connectEventStore(chats.servers.eventStoreUrl);
    try {
      const spent: string[] = [];
      for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END }))
        if (event?.streamId.startsWith('chat.oauth-')) spent.push(event.streamId);
      expect(spent).to.have.length.above(0);
      for (const stream of spent)
        expect((await client.getStreamMetadata(stream)).metadata).to.deep.equal({ maxAge: 600 + 86_400 });
    } finally {
      await client.dispose();
    }
  });

  it('accepts only an unaltered state, from the same address and for its provider', async () => {
    const headers = browser();
    const answer = await granted(await away(base, 'one', headers), ada);
    const state = answer.get('state')!;
    const [header, payload, signature] = state.split('.');
    const withClaims = (changed: object) =>
      `${header}.${Buffer.from(JSON.stringify({ ...claimsOf(state), ...changed })).toString('base64url')}.${signature}`;
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    const forged = [
      undefined,
      '',
      'x',
      withClaims({ jti: 'x'.repeat(43) }),
      withClaims({ exp: claimsOf(state).exp + 1 }),
      `${header}.${payload}.${'A'.repeat(43)}`,
      `${unsigned}.${payload}.`,
    ];
    for (const each of forged) {
      const query = new URLSearchParams(answer);
      query.delete('state');
      if (each !== undefined) query.set('state', each);
      expect(failure(await back(base, 'one', query, browser())), each).to.equal('invalid_state');
    }
    expect(failure(await back(base, 'one', answer, browser()))).to.equal('invalid_state');
    expect(failure(await back(base, 'two', answer, headers))).to.equal('invalid_state');
    // None of these attempts used up the state.
    expect(failure(await back(base, 'one', answer, headers))).to.equal(null);
  });

  it('rejects a stolen code without the verifier, which never leaves the server', async () => {
    const [victim, thief] = [browser(), browser()];
    const stolen = await granted(await away(base, 'one', victim), ada);
    const own = await granted(await away(base, 'one', thief), { email: 'eve@example.org' });
    const query = new URLSearchParams({ state: own.get('state')!, code: stolen.get('code')! });
    expect(failure(await back(base, 'one', query, thief))).to.equal('provider_error');
    // The verifier cannot be derived from the visible parameters.
    const authorization = await away(base, 'one', browser());
    const challenge = authorization.searchParams.get('code_challenge')!;
    for (const seen of [
      authorization.searchParams.get('state')!,
      claimsOf(authorization.searchParams.get('state')!).jti,
    ])
      expect(createHash('sha256').update(seen).digest('base64url')).not.to.equal(challenge);
  });

  it('redirects with an error code when nobody is signed in', async () => {
    const ended = async (profile: object, change: (query: URLSearchParams) => void = () => {}) => {
      const headers = browser();
      const answer = await granted(await away(base, 'one', headers), profile);
      change(answer);
      return failure(await back(base, 'one', answer, headers));
    };
    expect(await ended(ada, (query) => query.delete('code'))).to.equal('missing_code');
    expect(await ended(ada, (query) => query.set('code', 'x'))).to.equal('provider_error');
    expect(await ended(ada, (query) => query.set('error', 'access_denied'))).to.equal('access_denied');
    for (const [name, failed] of [
      ['state', 'invalid_state'],
      ['code', 'missing_code'],
      ['error', 'provider_error'],
    ] as const) {
      expect(await ended(ada, (query) => query.set(name, 'x'.repeat(4097))), name).to.equal(failed);
      const twice = (query: URLSearchParams) => {
        query.append(name, 'x');
        query.append(name, 'y');
      };
      expect(await ended(ada, twice), name).to.equal(failed);
    }
    expect(await ended({ name: 'Nobody' })).to.equal('no_verified_email');
    expect(await ended({ email: 'x@example.org', email_verified: false })).to.equal('no_verified_email');
    expect(await ended({ email: 'x@example.org', emailVerified: false })).to.equal('no_verified_email');
    expect(await ended({ email: 'no email' })).to.equal('no_verified_email');
  });

  it('rejects uninvited users where invitations are required', async () => {
    const strict = await chats.more({ '--auth-is-invite-required': 'true' });
    const at = strict.url('chat');
    const headers = browser();
    const answer = await granted(await away(at, 'one', headers), { email: 'stranger@example.org' });
    expect(failure(await back(at, 'one', answer, headers))).to.equal('user_not_found');
    const known = browser();
    const welcome = await back(at, 'one', await granted(await away(at, 'one', known), ada), known);
    expect(failure(welcome)).to.equal(null);
  });

  it('redirects with an error when the session quota is used up', async () => {
    const { url } = await chats.more({ '--chat-sessions-per-hour': '1' });
    const as = { email: 'bea@example.org', email_verified: true };
    const signIn = async () => {
      const headers = browser();
      return back(url('chat'), 'one', await granted(await away(url('chat'), 'one', headers), as), headers);
    };
    expect(failure(await signIn())).to.equal(null);
    expect(failure(await signIn())).to.equal('rate_limit_exceeded');
  });

  it('allows ten attempts per network in 15 minutes, counting redirect and callback once', async () => {
    const headers = browser();
    for (let n = 0; n < 9; n++) await away(base, 'one', headers);
    const tenth = await granted(await away(base, 'one', headers), ada);
    const refused = await ask(base, 'GET', '/auth/oauth/one', { headers });
    expect(refused.status).to.equal(429);
    expect(refused.body.error).to.be.a('string');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 900);
    expect(failure(await back(base, 'one', tenth, headers))).to.equal(null);
    const forged = new URLSearchParams({ state: 'x', code: 'x' });
    expect(failure(await back(base, 'one', forged, headers))).to.equal('rate_limit_exceeded');
    expect((await ask(base, 'GET', '/auth/oauth/one', { headers: browser() })).status).to.equal(302);
  });
});
