/** The hourly limit on registrations from one network. */
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask } from '../../support/http-spec.js';

const PASSWORD = 'correct horse battery';

describe('registering with a password', function () {
  this.timeout(60_000);
  const chat = useChat(1, {
    '--auth-auth-mode': 'password',
    '--auth-jwt-secret': 'a secret that is no default and long enough',
    '--chat-initial-user-password': PASSWORD,
    '--chat-register-per-hour': '2',
  });
  const register = (name: string, password = PASSWORD, key?: string) =>
    ask(chat.base, 'POST', '/auth/register', {
      body: { email: `${name}@example.org`, password },
      ...(key !== undefined && { headers: { 'idempotency-key': key } }),
    });

  it('is limited per network; rejected and repeated attempts do not count', async () => {
    expect((await register('ann', PASSWORD, 'one')).status).to.equal(200);
    expect((await register('ann', PASSWORD, 'one')).status, 'a repetition').to.equal(200);
    expect((await register('ann', 'another horse')).status, 'taken').to.equal(400);
    expect((await register('bob', 'short')).status, 'too short').to.equal(400);
    expect((await register('bob')).status).to.equal(200);
    const refused = await register('cyd');
    expect(refused.status).to.equal(429);
    expect(refused.body.error).to.be.a('string');
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3600);
    const signIn = { email: 'bob@example.org', password: PASSWORD };
    expect((await ask(chat.base, 'POST', '/auth/password-login', { body: signIn })).status).to.equal(200);
  });
});
