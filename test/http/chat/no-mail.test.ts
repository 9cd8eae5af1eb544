/** Password mode without a mail server: adding a user without a password sends no invitation, and tells the admin. */
import { expect } from 'chai';
import { inMode, useChat } from '../../support/chat-scenario.js';
import { ask } from '../../support/http-spec.js';

const PASSWORD = 'correct horse battery';

describe('adding users without a mail server', function () {
  this.timeout(60_000);
  const chat = useChat(1, { ...inMode('password'), '--chat-initial-user-password': PASSWORD });
  const add = (body: object) =>
    ask(chat.base, 'POST', '/users/add', { token: chat.admin.token, body: { role: 'user', ...body } });

  it('answers that no invitation was sent, and how to set a password', async () => {
    const email = 'kim@example.org';
    const { status, body } = await add({ email });
    expect([status, body.success]).to.deep.equal([200, true]);
    expect(body.message).to.match(/^No invite was sent.*email\.host.*POST \/users\/:id\/reset-password$/);
    const path = `/users/${body.userId}/reset-password`;
    const set = { token: chat.admin.token, body: { password: PASSWORD } };
    expect((await ask(chat.base, 'POST', path, set)).status).to.equal(200);
    const signIn = { body: { email, password: PASSWORD } };
    expect((await ask(chat.base, 'POST', '/auth/password-login', signIn)).status).to.equal(200);
  });

  it('has no message when a password was given', async () => {
    const { body } = await add({ email: 'lea@example.org', password: PASSWORD });
    expect(Object.keys(body)).to.have.members(['success', 'userId']);
  });
});
