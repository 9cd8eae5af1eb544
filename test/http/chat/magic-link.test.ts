/** Magic-link mode over HTTP, with mail: only the newest link works, once, and answers do not reveal which users exist. */
import { expect } from 'chai';
import { decodeJwt, SignJWT } from 'jose';
import { alteredTokens } from '../../adapters/crypto/forged-tokens.js';
import { type Chats, inMode, JWT_SECRET, startChats } from '../../support/chat-scenario.js';
import { type Answered, ask } from '../../support/http-spec.js';
import { type Letter, type PostOffice, startPostOffice } from '../../support/smtp-server.js';

const status = ({ status }: Answered) => status;

describe('magic-link mode', function () {
  this.timeout(60_000);
  let post: PostOffice;
  let chats: Chats;
  let base: string;
  let other: string;

  before(async () => {
    post = await startPostOffice();
    chats = await startChats(2, {
      ...inMode('magic-link'),
      '--email-host': '127.0.0.1',
      '--email-port': String(post.port),
      '--email-email-subject': 'Come in',
      '--auth-app-url': 'https://chat.example',
      '--chat-initial-user-email': 'ada@example.org',
    });
    [base, other] = chats.urls as [string, string];
  });
  after(async () => {
    await chats?.stop();
    post?.stop();
  });

  const requestLink = (email: unknown, at = base) => ask(at, 'POST', '/auth/login', { body: { email } });
  const verify = (token: string | undefined, body: object = {}, at = base) =>
    ask(at, 'POST', '/auth/verify', { token, body });
  const tokenOf = ({ link }: Letter) => link.searchParams.get('token')!;
  let sent = 0;
  const mailedLetter = async (email: string) => {
    expect(status(await requestLink(email))).to.equal(200);
    return post.letterTo(email, ++sent);
  };

  it('serves its own routes and none of other modes', async () => {
    expect((await ask(base, 'GET', '/config.json')).body.auth).to.include({
      mode: 'magic-link',
      hasEmail: true,
      passwordResetEnabled: false,
    });
    for (const path of ['dev-login', 'password-login', 'request-password-reset', 'setup-password', 'register'])
      expect(status(await ask(base, 'POST', `/auth/${path}`, { body: {} })), path).to.equal(404);
  });

  it('signs in with a mailed link, once, on any node', async () => {
    const letter = await mailedLetter('ada@example.org');
    expect(letter.subject).to.equal('Come in');
    expect(letter.text).to.contain('15 minutes');
    expect(letter.link.origin + letter.link.pathname).to.equal('https://chat.example/');
    expect(letter.link.searchParams.get('email')).to.equal('ada@example.org');
    const token = tokenOf(letter);
    const { iat, exp, aud } = decodeJwt(token);
    expect(exp! - iat!).to.equal(900);
    expect(aud).to.be.a('string');
    expect(status(await verify(token, { email: 'eve@example.org' }, other))).to.equal(401);
    const done = await verify(token, { email: 'ADA@example.org' }, other);
    expect(done.status).to.equal(200);
    expect(Object.keys(done.body)).to.have.members(['accessToken', 'refreshToken', 'exp', 'tokenType']);
    expect((await ask(base, 'GET', '/auth/me', { token: done.body.accessToken })).body.user.isAdmin).to.equal(true);
    for (const at of [base, other]) expect(status(await verify(token, {}, at))).to.equal(401);
    // A link token is not an access token, and vice versa.
    expect(status(await ask(base, 'GET', '/auth/me', { token }))).to.equal(401);
    expect(status(await verify(done.body.accessToken))).to.equal(401);
  });

  it('accepts only the exact text of each token', async () => {
    const token = tokenOf(await mailedLetter('ada@example.org'));
    for (const altered of alteredTokens(token)) {
      expect(status(await verify(altered)), altered).to.equal(401);
      expect(status(await verify(undefined, { token: altered })), altered).to.equal(401);
    }
    const { accessToken } = (await verify(token)).body;
    const me = async (token: string) => status(await ask(base, 'GET', '/auth/me', { token }));
    for (const altered of alteredTokens(accessToken)) expect(await me(altered), altered).to.equal(401);
    expect(await me(accessToken)).to.equal(200);
  });

  it('accepts the token in the body too', async () => {
    expect(status(await verify(undefined, { token: tokenOf(await mailedLetter('ada@example.org')) }))).to.equal(200);
  });

  it('signs in one of two concurrent requests with the same link', async () => {
    const token = tokenOf(await mailedLetter('ada@example.org'));
    const both = await Promise.all([verify(token), verify(token, {}, other)]);
    expect(both.map(status)).to.have.members([200, 401]);
  });

  it('answers alike for known and unknown addresses, and mails only to known ones', async () => {
    const [known, unknown, none] = [
      await requestLink('ada@example.org'),
      await requestLink('nobody@example.org'),
      await requestLink('no email'),
    ];
    expect(known.body).to.have.keys('success', 'message');
    for (const each of [unknown, none]) expect(each).to.deep.include({ status: 200, body: known.body });
    for (const wrong of [undefined, 7, null, '', '  ']) expect(status(await requestLink(wrong))).to.equal(400);
    await post.letterTo('ada@example.org', ++sent);
    expect(post.letters.every(({ to }) => to.includes('ada@example.org'))).to.equal(true);
  });

  it('rejects forged tokens and tokens for other purposes', async () => {
    const claims = { aud: 'annals:chat:magic-link', jti: 'x' };
    const sign = (key: string, more = {}) =>
      new SignJWT({ ...claims, ...more })
        .setProtectedHeader({ alg: 'HS256' })
        .setSubject('ada@example.org')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(new TextEncoder().encode(key));
    const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await sign(JWT_SECRET)).split('.')[1]}.`;
    const wrong = [undefined, '', 'x', none, await sign('another key of some length, more than 32')];
    for (const token of [...wrong, await sign(JWT_SECRET), await sign(JWT_SECRET, { aud: 'annals:chat:reset' })])
      expect(status(await verify(token)), token).to.equal(401);
  });

  it('mails an invitation to users added by an admin', async () => {
    const admin = await chats.more({ '--auth-auth-mode': 'dev' });
    const { body } = await ask(admin.url('chat'), 'POST', '/auth/dev-login', {
      body: { email: 'ada@example.org' },
    });
    const added = await ask(base, 'POST', '/users/add', {
      token: body.token,
      body: { email: 'bob@example.org', role: 'user' },
    });
    expect(added.status).to.equal(200);
    const letter = await post.letterTo('bob@example.org');
    expect(letter.link.pathname).to.equal('/');
    expect(letter.text).to.contain('7 days');
    const done = await verify(tokenOf(letter));
    expect((await ask(base, 'GET', '/auth/me', { token: done.body.accessToken })).body.user.id).to.equal(
      added.body.userId,
    );
  });
});

describe('magic-link mode with open registration', function () {
  this.timeout(60_000);

  it('creates a user on the first sign-in by a link', async () => {
    const post = await startPostOffice();
    const flags = {
      ...inMode('magic-link'),
      '--email-host': '127.0.0.1',
      '--email-port': String(post.port),
      '--auth-is-invite-required': 'false',
    };
    const chats = await startChats(1, flags);
    const [base] = chats.urls as [string];
    try {
      await ask(base, 'POST', '/auth/login', { body: { email: 'newcomer@example.org' } });
      const letter = await post.letterTo('newcomer@example.org');
      const token = letter.link.searchParams.get('token')!;
      const done = await ask(base, 'POST', '/auth/verify', { token });
      expect(done.status).to.equal(200);
      const { body } = await ask(base, 'GET', '/auth/me', { token: done.body.accessToken });
      expect(body.user).to.include({ userName: 'newcomer', isAdmin: false });
      // Without a configured application URL, links point to the chat itself.
      expect(letter.link.origin).to.equal(base);
      // Two sign-ins from one address under one key stay separate.
      for (const email of ['eve@example.org', 'fay@example.org'] as const) {
        await ask(base, 'POST', '/auth/login', { body: { email } });
        const token = (await post.letterTo(email)).link.searchParams.get('token')!;
        const headers = { 'idempotency-key': 'verify-1' };
        const { body } = await ask(base, 'POST', '/auth/verify', { token, headers });
        const again = await ask(base, 'POST', '/auth/verify', { token, headers });
        expect(again.body.accessToken).to.equal(body.accessToken);
        const me = await ask(base, 'GET', '/auth/me', { token: body.accessToken });
        expect(me.body.user.userName).to.equal(email.slice(0, 3));
      }
    } finally {
      await chats.stop();
      post.stop();
    }
  });
});
