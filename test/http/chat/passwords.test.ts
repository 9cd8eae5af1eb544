/** Password mode over HTTP, with mail: initial password, sign-in, registration, invitations and resets. */
import { expect } from 'chai';
import { type Chats, inMode, startChats } from '../../support/chat-scenario.js';
import { useCheapScrypt } from '../../support/cheap-scrypt.js';
import { type Answered, ask } from '../../support/http-spec.js';
import { type PostOffice, startPostOffice } from '../../support/smtp-server.js';

const PASSWORD = 'correct horse';
const status = ({ status }: Answered) => status;

describe('password mode', function () {
  this.timeout(60_000);
  useCheapScrypt();
  let post: PostOffice;
  let chats: Chats;
  let base: string;
  let other: string;

  before(async () => {
    post = await startPostOffice(2);
    const mail = {
      '--email-host': '127.0.0.1',
      '--email-port': String(post.port),
      '--email-from': 'chat@example.org',
    };
    chats = await startChats(2, {
      ...inMode('password'),
      ...mail,
      '--auth-is-invite-required': 'false',
      '--auth-app-url': 'https://chat.example/app/',
      '--chat-initial-user-email': 'ada@example.org',
      '--initialUserPassword': PASSWORD,
    });
    [base, other] = chats.urls as [string, string];
  });
  after(async () => {
    await chats?.stop();
    post?.stop();
  });

  const email = (name: string) => `${name}@example.org`;
  const to = (path: string, body: unknown, more = {}, at = base) => ask(at, 'POST', path, { body, ...more });
  const login = (name: string, password: unknown = PASSWORD, at = base) =>
    to('/auth/password-login', { email: email(name), password }, {}, at);
  const register = (name: string, password: unknown = PASSWORD) =>
    to('/auth/register', { email: email(name), password });
  const admin = async () => (await login('ada')).body.accessToken as string;
  const me = (token: string, at = base) => ask(at, 'GET', '/auth/me', { token });

  it('reports mail, resets and registration in its configuration', async () => {
    const { body } = await ask(base, 'GET', '/config.json');
    expect(body.auth).to.include({
      mode: 'password',
      hasEmail: true,
      passwordResetEnabled: true,
      registrationEnabled: true,
    });
    for (const path of ['dev-login', 'login', 'verify'])
      expect(status(await to(`/auth/${path}`, { email: 'ada@example.org' })), path).to.equal(404);
  });

  it('signs in the initial admin with the initial password, on every node', async () => {
    const signedIn = await login('ada');
    expect(signedIn.status).to.equal(200);
    const { accessToken, refreshToken, ...rest } = signedIn.body;
    expect(rest).to.deep.equal({ exp: 900, tokenType: 'Bearer' });
    expect(refreshToken).to.be.a('string');
    expect((await me(accessToken, other)).body.user).to.include({ isAdmin: true, userName: 'Admin' });
    expect(status(await login('ada', PASSWORD, other))).to.equal(200);
  });

  it('answers alike for a wrong password, an unknown user and a user without a password', async () => {
    const token = await admin();
    const added = await ask(base, 'POST', '/users/add', {
      token,
      body: { email: email('bare'), role: 'user' },
    });
    expect(added.status).to.equal(200);
    const [wrong, unknown, bare] = [await login('ada', 'wrong horse'), await login('nobody'), await login('bare')];
    expect([wrong, unknown, bare].map(status)).to.deep.equal([401, 401, 401]);
    expect(unknown.body).to.deep.equal(wrong.body);
    expect(bare.body).to.deep.equal(wrong.body);
    for (const body of [{}, { email: email('ada') }, { password: PASSWORD }, { email: 1, password: PASSWORD }])
      expect(status(await to('/auth/password-login', body))).to.equal(400);
  });

  it('registers an email once', async () => {
    const bob = await register('bob');
    expect(bob.status).to.equal(200);
    expect(Object.keys(bob.body)).to.have.members(['accessToken', 'refreshToken', 'exp', 'tokenType']);
    expect((await me(bob.body.accessToken)).body.user).to.include({ userName: 'bob', isAdmin: false });
    expect(status(await login('bob'))).to.equal(200);
    const again = await register('bob', 'another horse');
    expect(again.status).to.equal(400);
    expect(again.body.error).to.be.a('string');
    expect(status(await login('bob'))).to.equal(200);
  });

  it('rejects invalid emails and passwords, and stores nothing', async () => {
    for (const [address, password] of [
      ['no email', PASSWORD],
      [email('short'), '1234567'],
      [email('short'), ''],
      [email('long'), 'x'.repeat(1025)],
    ])
      expect(status(await to('/auth/register', { email: address, password })), address).to.equal(400);
    for (const name of ['short', 'long']) expect(status(await register(name, 'x'.repeat(1024)))).to.equal(200);
  });

  it('registers one of two concurrent requests for an email, on one node and on two', async () => {
    for (let round = 0; round < 8; round++) {
      const body = (password: string) => ({ email: email(`both-${round}`), password });
      const otherBase = round % 2 ? base : other;
      const both = await Promise.all([
        to('/auth/register', body('the first one')),
        to('/auth/register', body('the other one'), {}, otherBase),
      ]);
      expect(both.map(status)).to.have.members([200, 400]);
    }
  });

  it('lets admins set passwords, which ends earlier sessions', async () => {
    const token = await admin();
    const { body } = await register('carl');
    const { id } = (await me(body.accessToken)).body.user;
    const reset = (password: unknown, by: string | undefined = token, userId = id) =>
      ask(base, 'POST', `/users/${userId}/reset-password`, { token: by, body: { password } });
    expect(status(await reset('1234567'))).to.equal(400);
    expect(status(await reset(7))).to.equal(400);
    expect(status(await reset(PASSWORD, token, 'unknown'))).to.equal(400);
    expect(status(await reset('another horse', body.accessToken))).to.equal(403);
    expect(status(await me(body.accessToken))).to.equal(200);
    expect(await reset('another horse')).to.deep.include({ status: 200, body: { success: true } });
    expect(status(await me(body.accessToken))).to.equal(401);
    expect(status(await login('carl'))).to.equal(401);
    expect(status(await login('carl', 'another horse'))).to.equal(200);
  });

  it('adds users with a password, or rejects them and stores nothing', async () => {
    const token = await admin();
    const add = (body: object, by = token) => ask(base, 'POST', '/users/add', { token: by, body });
    const dave = await register('dave');
    expect(status(await add({ email: email('eve'), role: 'user' }, dave.body.accessToken))).to.equal(403);
    for (const wrong of [
      { role: 'user' },
      { email: 'no email', role: 'user' },
      { email: email('eve'), role: 'owner' },
      { email: email('eve') },
      { email: email('eve'), role: 'user', password: '1234567' },
      { email: email('dave'), role: 'user' },
    ])
      expect(status(await add(wrong)), JSON.stringify(wrong)).to.equal(400);
    expect(status(await login('eve', '1234567'))).to.equal(401);
    const done = await add({ email: email('eve'), role: 'admin', password: PASSWORD });
    expect(done.status).to.equal(200);
    expect(done.body.success).to.equal(true);
    const eve = await login('eve');
    expect((await me(eve.body.accessToken)).body.user).to.deep.equal({
      id: done.body.userId,
      userName: 'eve',
      isAdmin: true,
    });
  });

  it('mails an invitation, usable once, to a user added without a password', async () => {
    const token = await admin();
    const added = await ask(base, 'POST', '/users/add', {
      token,
      body: { email: email('fay'), role: 'user' },
    });
    expect(Object.keys(added.body)).to.have.members(['success', 'userId']);
    // The mail server rejects the first attempts.
    const letter = await post.letterTo(email('fay'));
    expect(post.refused()).to.equal(2);
    expect(letter.link.origin + letter.link.pathname).to.equal('https://chat.example/app/reset');
    expect(letter.link.searchParams.get('email')).to.equal(email('fay'));
    expect(letter.html).to.contain('href="https://chat.example/app/reset?token=');
    const linkToken = letter.link.searchParams.get('token')!;
    const setup = (password: string, more: object = { token: linkToken }, headers = {}) =>
      to('/auth/setup-password', { password, ...more }, { headers });
    // A short password or another's email does not use up the link.
    expect(status(await setup('1234567'))).to.equal(400);
    expect(status(await setup(PASSWORD, { token: linkToken, email: email('ada') }))).to.equal(400);
    for (const wrong of ['', 'x', `${linkToken}x`, await admin()])
      expect(status(await setup(PASSWORD, { token: wrong })), wrong).to.equal(400);
    expect(status(await setup(PASSWORD, {}))).to.equal(400);
    const done = await setup(PASSWORD, { email: ' FAY@example.org' }, { authorization: `Bearer ${linkToken}` });
    expect(done.status).to.equal(200);
    expect((await me(done.body.accessToken)).body.user).to.include({ userName: 'fay' });
    expect(status(await setup('yet another horse'))).to.equal(400);
    expect(status(await login('fay'))).to.equal(200);
  });

  it('mails a reset link, answers alike for unknown users, and ends earlier sessions', async () => {
    const { body } = await register('gus');
    const requestReset = (name: string) => to('/auth/request-password-reset', { email: email(name) });
    const [known, unknown] = [await requestReset('gus'), await requestReset('nobody')];
    expect(known.status).to.equal(200);
    expect(known.body.success).to.equal(true);
    expect(unknown).to.deep.include({ status: known.status, body: known.body });
    expect([...unknown.headers.keys()].sort()).to.deep.equal([...known.headers.keys()].sort());
    const first = await post.letterTo(email('gus'));
    await requestReset('gus');
    const second = await post.letterTo(email('gus'), 2);
    const setup = ({ link }: typeof first, password: string) =>
      to('/auth/setup-password', { token: link.searchParams.get('token'), password });
    // A newer link invalidates the older one.
    expect(status(await setup(first, 'another horse'))).to.equal(400);
    const done = await setup(second, 'another horse');
    expect(done.status).to.equal(200);
    expect(status(await me(body.accessToken))).to.equal(401);
    expect(status(await me(done.body.accessToken))).to.equal(200);
    expect(status(await login('gus', 'another horse', other))).to.equal(200);
    expect(post.letters.filter(({ to }) => to.includes(email('nobody')))).to.deep.equal([]);
    for (const wrong of [{}, { email: 1 }, { email: '' }, { email: ' ' }])
      expect(status(await to('/auth/request-password-reset', wrong))).to.equal(400);
  });

  it('sends five mails to an address in 15 minutes, and answers alike beyond that', async () => {
    await register('hal');
    await register('last');
    const answers = [];
    for (let n = 0; n < 8; n++)
      answers.push(await to('/auth/request-password-reset', { email: email('hal') }, {}, n % 2 ? base : other));
    expect(new Set(answers.map(({ status, body }) => JSON.stringify({ status, body }))).size).to.equal(1);
    await to('/auth/request-password-reset', { email: email('last') });
    await post.letterTo(email('last'));
    const received = post.letters.filter(({ to }) => to.includes(email('hal')));
    // A mail is not sent when its link was replaced first.
    expect(received.length).to.be.within(1, 5);
    const newest = await post.letterTo(email('hal'));
    expect(
      status(
        await to('/auth/setup-password', {
          token: newest.link.searchParams.get('token'),
          password: PASSWORD,
        }),
      ),
    ).to.equal(200);
  });

  it('repeats the same sign-in for the same idempotency key', async () => {
    const headers = { 'idempotency-key': 'sign-in' };
    const body = { email: email('ida'), password: PASSWORD };
    const [one, two] = [await to('/auth/register', body, { headers }), await to('/auth/register', body, { headers })];
    expect(one.status).to.equal(200);
    expect(two.body).to.deep.equal(one.body);
    expect(status(await to('/auth/register', { ...body, password: 'another horse' }, { headers }))).to.equal(422);
    expect(status(await login('ida'))).to.equal(200);
  });
});
