/** Limits on guessing passwords: ten failures for an email from a network, and fifty from a network. */
import { expect } from 'chai';
import { type Chats, inMode, startChats } from '../../support/chat-scenario.js';
import { useCheapScrypt } from '../../support/cheap-scrypt.js';
import { type Answered, ask } from '../../support/http-spec.js';

const PASSWORD = 'correct horse';
const status = ({ status }: Answered) => status;

describe('password guessing limits', function () {
  this.timeout(60_000);
  let chats: Chats;
  let at: string;

  beforeEach(async () => {
    chats = await startChats(1, {
      ...inMode('password'),
      '--auth-is-invite-required': 'false',
      // The proxy header gives each caller its own network.
      '--server-trusted-proxies': '127.0.0.1',
    });
    [at] = chats.urls as [string];
  });
  afterEach(() => chats?.stop());

  const email = (name: string) => `${name}@example.org`;
  const register = (name: string) =>
    ask(at, 'POST', '/auth/register', { body: { email: email(name), password: PASSWORD } });
  const from = (address: string, name: string, password: string) =>
    ask(at, 'POST', '/auth/password-login', {
      body: { email: email(name), password },
      headers: { 'x-forwarded-for': address },
    });

  describe('of sequential guesses', () => {
    useCheapScrypt();

    it('block an email from a network after ten failures; successes do not count', async () => {
      await register('max');
      await register('bob');
      for (let n = 0; n < 12; n++) expect(status(await from('192.0.2.1', 'max', PASSWORD))).to.equal(200);
      for (let n = 0; n < 10; n++) expect(status(await from('192.0.2.99', 'max', 'wrong horse'))).to.equal(401);
      const refused = await from('192.0.2.99', 'max', PASSWORD);
      expect(refused.status).to.equal(429);
      expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 900);
      expect(refused.body.error).to.be.a('string');
      expect(status(await from('192.0.2.99', 'bob', PASSWORD)), 'another user').to.equal(200);
      expect(status(await from('192.0.2.1', 'max', PASSWORD)), 'another network').to.equal(200);
    });

    it('block a network after fifty failures', async () => {
      await register('bob');
      for (let n = 0; n < 50; n++) expect(status(await from('192.0.2.200', `nobody-${n}`, PASSWORD))).to.equal(401);
      expect(status(await from('192.0.2.200', 'bob', PASSWORD))).to.equal(429);
      expect(status(await from('192.0.2.201', 'bob', PASSWORD))).to.equal(200);
    });
  });

  it('reveal the outcome of at most ten concurrent guesses', async () => {
    await register('ned');
    const guess = (n: number) => from('198.51.100.1', 'ned', `guess number ${n}`);
    const answers = await Promise.all(Array.from({ length: 16 }, (_, n) => guess(n)));
    const refused = answers.filter(({ status }) => status === 401);
    // On a slow machine some guesses time out instead.
    expect(refused.length).to.be.within(1, 10);
    for (const each of answers.filter((each) => !refused.includes(each))) expect(each.status).to.be.oneOf([429, 503]);
  });
});
