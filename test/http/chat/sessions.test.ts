/** Sessions over HTTP: signing in with an email alone, refreshing, listing, revoking. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { chat } from '../../../bin/services/chat.js';
import { ask, devLogin, EventStream } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';

const FLAGS = { '--chat-port': '0' };

describe('sessions of the chat', function () {
  this.timeout(60_000);
  let node: RunningNode;
  let base: string;
  before(async () => {
    node = await startNode([chat], { flags: { ...FLAGS, '--auth-is-invite-required': 'false' } });
    base = node.url('chat');
  });
  after(() => node?.stop());

  const email = (name: string) => `${name}@example.org`;
  const me = (token?: string) => ask(base, 'GET', '/auth/me', { token });
  const refresh = (refreshToken: unknown, headers = {}) =>
    ask(base, 'POST', '/auth/refresh', { body: { refreshToken }, headers });

  it('describe how to sign in, alike at two paths', async () => {
    const [one, other] = await Promise.all([ask(base, 'GET', '/config.json'), ask(base, 'GET', '/auth/config')]);
    expect(one.status).to.equal(200);
    expect(one.body).to.deep.equal(other.body);
    const { routes, ...rest } = one.body.auth;
    expect(rest).to.deep.equal({
      mode: 'dev',
      hasEmail: false,
      isInviteRequired: false,
      oauthEnabled: false,
      passwordResetEnabled: false,
      registrationEnabled: false,
    });
    const names = { devLogin: '/auth/dev-login', refresh: '/auth/refresh', config: '/auth/config' };
    expect(routes).to.include(names).and.not.to.have.property('oauthStart');
    expect(await ask(base, 'GET', '/health')).to.include({ status: 200, body: 'OK' });
  });

  it('start with an email, ignoring case and surrounding spaces', async () => {
    const first = await ask(base, 'POST', '/auth/dev-login', { body: { email: ' Ada@Example.ORG ' } });
    expect(first.status).to.equal(200);
    const { user, token, refreshToken, exp, tokenType, ...more } = first.body;
    expect(more).to.deep.equal({});
    expect(user).to.include({ userName: 'ada', isAdmin: false });
    expect({ exp, tokenType }).to.deep.equal({ exp: 900, tokenType: 'Bearer' });
    expect(refreshToken).to.be.a('string');
    const again = await ask(base, 'POST', '/auth/dev-login', { body: { email: 'ada@example.org' } });
    expect(again.body.user).to.deep.equal(user);
    expect((await me(token)).body).to.deep.equal({ user });
    const claims = decodeJwt(token);
    expect(decodeProtectedHeader(token).alg).to.equal('HS256');
    expect(claims).to.include({ sub: user.id, username: 'ada', role: 'user' });
    expect(claims).to.include.keys('sid', 'iat', 'exp', 'jti');
    expect(claims.exp! - claims.iat!).to.equal(900);
  });

  it('are refused without a valid email', async () => {
    for (const body of [{}, { email: 7 }, { email: '' }, { email: 'no email' }, '{', '[]'])
      expect(await ask(base, 'POST', '/auth/dev-login', { body }), JSON.stringify(body)).to.include({
        status: 400,
      });
  });

  it('give admin rights to the initial admin, who exists from the start', async () => {
    const { token } = await devLogin(base, 'admin@localhost');
    expect((await me(token)).body.user).to.include({ userName: 'Admin', isAdmin: true });
  });

  it('answer 401 to missing, altered and foreign tokens', async () => {
    const { token } = await devLogin(base, email('tokens'));
    const [head, body, mac] = token.split('.') as [string, string, string];
    const forged = Buffer.from(body, 'base64url').toString().replace('"user"', '"admin"');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const wrong = [
      undefined,
      'x',
      `${head}.${body}.${mac.slice(1)}`,
      `${head}.${Buffer.from(forged).toString('base64url')}.${mac}`,
      `${none}.${body}.`,
      'a'.repeat(9000),
    ];
    for (const each of wrong) {
      const answer = await me(each);
      expect(answer.status, each).to.equal(401);
      expect(answer.body.error).to.be.a('string');
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    }
    for (const [method, path] of [
      ['GET', '/auth/me'],
      ['GET', '/auth/sessions'],
      ['DELETE', '/auth/sessions'],
      ['POST', '/auth/logout'],
      ['GET', '/events'],
    ] as const)
      expect((await ask(base, method, path)).status, path).to.equal(401);
  });

  it('are refreshed with a refresh token, each once', async () => {
    const { token, refreshToken } = await devLogin(base, email('refresh'));
    const { status, body } = await refresh(refreshToken);
    expect(status).to.equal(200);
    expect(Object.keys(body)).to.have.members(['accessToken', 'refreshToken', 'exp', 'tokenType']);
    expect(body.refreshToken).not.to.equal(refreshToken);
    expect((await me(body.accessToken)).status).to.equal(200);
    expect((await me(token)).status).to.equal(200);
    const second = await refresh(body.refreshToken);
    // A token two generations old was stolen.
    expect((await refresh(refreshToken)).status).to.equal(401);
    expect((await refresh(second.body.refreshToken)).status).to.equal(401);
    expect((await me(body.accessToken)).status).to.equal(401);
  });

  it('let two tabs refresh concurrently, in fifty rounds', async () => {
    let { refreshToken } = await devLogin(base, email('tabs'));
    for (let round = 0; round < 50; round++) {
      const both = await Promise.all([refresh(refreshToken), refresh(refreshToken)]);
      expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
      const [one, other] = both.map(({ body }) => body.refreshToken);
      expect(one).to.equal(other);
      refreshToken = one;
    }
  });

  it('reject invalid refresh tokens', async () => {
    const { refreshToken } = await devLogin(base, email('forged'));
    const { token: accessToken } = await devLogin(base, email('forged'));
    const [header, payload, signature] = refreshToken.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const altered = Buffer.from(JSON.stringify({ ...claims, generation: 1 })).toString('base64url');
    const ahead = `${header}.${altered}.${signature}`;
    const forged = `${header}.${payload}.${signature.slice(1)}${signature[0] === 'A' ? 'B' : 'A'}`;
    for (const each of ['', 'x', ahead, forged, accessToken, `${refreshToken}x`, refreshToken.slice(0, -1)])
      expect((await refresh(each)).status, each).to.equal(401);
    for (const body of [{}, { refreshToken: 1 }])
      expect((await ask(base, 'POST', '/auth/refresh', { body })).status).to.equal(400);
    // Nor is a refresh token an access token.
    expect((await ask(base, 'GET', '/auth/me', { token: refreshToken })).status).to.equal(401);
  });

  it('are at most three: the fourth sign-in ends the oldest', async () => {
    const four = [];
    for (let n = 0; n < 4; n++) four.push(await devLogin(base, email('four')));
    const statuses = await Promise.all(four.map(async ({ token }) => (await me(token)).status));
    expect(statuses).to.deep.equal([401, 200, 200, 200]);
    expect((await refresh(four[0]!.refreshToken)).status).to.equal(401);
    const { body } = await ask(base, 'GET', '/auth/sessions', { token: four[2]!.token });
    expect(body.sessions).to.have.length(3);
    expect(body.sessions.map(({ isCurrentSession }: { isCurrentSession: boolean }) => isCurrentSession)).to.deep.equal([
      false,
      true,
      false,
    ]);
    const [session] = body.sessions;
    expect(Object.keys(session)).to.have.members([
      'id',
      'createdAt',
      'lastUsedAt',
      'expiresAt',
      'ip',
      'userAgent',
      'isCurrentSession',
    ]);
    expect(session.ip).to.equal('127.0.0.1');
    expect(session.expiresAt - session.createdAt).to.equal(604_800_000);
  });

  it('are at most three with concurrent sign-ins, in fifty rounds', async () => {
    const first = await devLogin(base, email('crowd'));
    for (let round = 0; round < 50; round++) {
      await Promise.all([devLogin(base, email('crowd')), devLogin(base, email('crowd'))]);
      const { token } = await devLogin(base, email('crowd'));
      const { body } = await ask(base, 'GET', '/auth/sessions', { token });
      expect(body.sessions).to.have.length(3);
    }
    expect((await me(first.token)).status).to.equal(401);
  });

  it("end on logout: the caller's, or the one with the given refresh token", async () => {
    const [one, other] = [await devLogin(base, email('out')), await devLogin(base, email('out'))];
    const otherUser = await devLogin(base, email('stranger'));
    const logout = (token: string, body?: object) => ask(base, 'POST', '/auth/logout', { token, body });
    expect((await logout(one.token, { refreshToken: otherUser.refreshToken })).status).to.equal(401);
    expect((await logout(one.token, { refreshToken: 'x' })).status).to.equal(401);
    const named = await logout(one.token, { refreshToken: other.refreshToken });
    expect(named.status).to.equal(200);
    expect(named.body.success).to.equal(true);
    expect(named.body.message).to.be.a('string');
    expect((await me(other.token)).status).to.equal(401);
    expect((await me(one.token)).status).to.equal(200);
    expect((await logout(one.token)).status).to.equal(200);
    expect((await me(one.token)).status).to.equal(401);
    expect((await refresh(one.refreshToken)).status).to.equal(401);
    expect((await me(otherUser.token)).status).to.equal(200);
  });

  it('are revoked by their owner: one by id, all but a given one, or all but the current one', async () => {
    const sign = () => devLogin(base, email('revoke'));
    const revoke = (token: string, body?: object) => ask(base, 'DELETE', '/auth/sessions', { token, body });
    const [a, b, c] = [await sign(), await sign(), await sign()];
    const { body } = await ask(base, 'GET', '/auth/sessions', { token: a.token });
    const [newest] = body.sessions;
    expect((await revoke(a.token, { sessionId: newest.id })).body).to.include({ success: true, revoked: 1 });
    expect((await me(c.token)).status).to.equal(401);
    expect((await revoke(a.token, { sessionId: 'unknown' })).body).to.include({ revoked: 0 });
    expect((await revoke(a.token, { refreshToken: 'x' })).status).to.equal(401);
    const revoked = await revoke(a.token, { refreshToken: b.refreshToken });
    expect(revoked.body).to.include({ revoked: 1 });
    expect((await me(a.token)).status).to.equal(401);
    const d = await sign();
    expect((await revoke(d.token)).body).to.include({ revoked: 1 });
    expect([(await me(b.token)).status, (await me(d.token)).status]).to.deep.equal([401, 200]);
  });

  it('repeat the first answer for the same idempotency key', async () => {
    const keyHeader = { 'idempotency-key': 'one' };
    const body = { email: email('keyed') };
    const sign = () => ask(base, 'POST', '/auth/dev-login', { body, headers: keyHeader });
    const [first, again] = [await sign(), await sign()];
    expect(again.body).to.deep.equal(first.body);
    const other = { body: { email: email('other') }, headers: keyHeader };
    expect((await ask(base, 'POST', '/auth/dev-login', other)).status).to.equal(422);
    const { token, refreshToken } = first.body;
    const [one, two] = [await refresh(refreshToken, keyHeader), await refresh(refreshToken, keyHeader)];
    expect(two.body).to.deep.equal(one.body);
    const logout = () => ask(base, 'POST', '/auth/logout', { token, headers: keyHeader });
    const [out, more] = [await logout(), await logout()];
    expect(out.status).to.equal(200);
    expect(more.body).to.deep.equal(out.body);
    expect((await ask(base, 'POST', '/auth/logout', { token })).status).to.equal(401);
  });

  it('close their streams when they end', async () => {
    const ada = await devLogin(base, email('streams'));
    const [byHeader, byQuery] = await Promise.all([
      EventStream.to(base, { token: ada.token }),
      EventStream.to(base, {}, `?token=${ada.token}`),
    ]);
    for (const { headers, frames } of [byHeader, byQuery]) {
      expect(headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(headers.get('cache-control')).to.equal('no-cache');
      expect(headers.get('x-accel-buffering')).to.equal('no');
      expect(frames[0]!.type).to.equal('CONNECTED');
      expect(frames[0]!.payload).to.include({ userId: ada.id });
      expect(frames[0]!.payload).to.have.keys('message', 'timestamp', 'userId', 'connectionId');
    }
    const other = await devLogin(base, email('streams'));
    const openStream = await EventStream.to(base, { token: other.token });
    await ask(base, 'POST', '/auth/logout', { token: ada.token });
    await eventually(() => byHeader.ended && byQuery.ended);
    const newUser = await devLogin(base, email('newcomer'));
    // A stream may also receive that its own user was added.
    const frames = await eventually(() => openStream.frames.find(({ payload }) => payload.id === newUser.id));
    expect(frames.type).to.equal('NEW_USER');
    expect(frames.payload).to.include({
      id: newUser.id,
      userName: 'newcomer',
      email: email('newcomer'),
      isAdmin: false,
    });
    expect(openStream.ended).to.equal(false);
    openStream.close();
  });

  it('answer CORS requests of any origin, errors and preflights included', async () => {
    const headers = { origin: 'https://app.example' };
    for (const answer of [
      await ask(base, 'GET', '/health', { headers }),
      await ask(base, 'GET', '/auth/me', { headers }),
      await ask(base, 'GET', '/nowhere', { headers }),
      await ask(base, 'OPTIONS', '/auth/refresh', { headers }),
    ])
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    const preflight = await ask(base, 'OPTIONS', '/anything', { headers });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-methods')).to.equal('GET, POST, PUT, DELETE, PATCH, OPTIONS');
    expect(preflight.headers.get('access-control-max-age')).to.equal('86400');
    for (const name of ['Content-Type', 'Authorization', 'Idempotency-Key', 'Last-Event-ID'])
      expect(preflight.headers.get('access-control-allow-headers')).to.contain(name);
  });

  it('serve no routes of other modes', async () => {
    for (const path of ['login', 'verify', 'password-login', 'request-password-reset', 'setup-password', 'register'])
      expect((await ask(base, 'POST', `/auth/${path}`, { body: {} })).status, path).to.equal(404);
    expect((await ask(base, 'GET', '/auth/oauth/providers')).status).to.equal(404);
  });
});
