/** Access revoked while a request is in progress: before its body arrives, or during a long answer. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { useChat } from '../../support/chat-scenario.js';
import { ask, type Member } from '../../support/http-spec.js';

describe('access revoked during a request', function () {
  this.timeout(120_000);
  const chat = useChat();
  const done = async ({ token }: Member, method: string, path: string, body?: unknown) => {
    const answered = await ask(chat.base, method, path, { token, body });
    expect(answered.status, `${method} ${path}`).to.equal(200);
    return answered.body;
  };
  const byAdmin = (method: string, path: string, body?: unknown) => done(chat.admin, method, path, body);

  /** Starts posting a message without finishing its body; resolves once the server has authenticated the sender. */
  async function startPosting(token: string, path: string) {
    const body = JSON.stringify({ content: 'too late' });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    };
    const sent = request(chat.base + path, { method: 'POST', headers });
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    sent.flushHeaders();
    await once(sent, 'continue');
    sent.write(body.slice(0, 5));
    // Another request to the same node was answered, so this one has been authenticated.
    await byAdmin('GET', '/channels');
    return async () => {
      sent.end(body.slice(5));
      const [response] = await answered;
      await text(response);
      return response.statusCode;
    };
  }

  it('rejects posts of removed users, deleted webhooks and former admins', async () => {
    const [ada, bob] = [await chat.join('ada'), await chat.join('bob')];
    await byAdmin('PUT', `/users/${bob.id}/role`, { role: 'admin' });
    const channel = (await byAdmin('POST', '/channels', { name: 'open' })).channel.id;
    const hidden = (await byAdmin('POST', '/channels', { name: 'hidden', isPrivate: true })).channel.id;
    const { webhook } = await byAdmin('POST', '/webhooks', { name: 'bot', channelId: channel });
    const ends = [
      await startPosting(ada.token, `/channels/${channel}/messages`),
      await startPosting(webhook.token, `/webhooks/${webhook.id}/messages`),
      await startPosting(bob.token, `/channels/${hidden}/messages`),
    ];
    await byAdmin('DELETE', `/users/${ada.id}`);
    await byAdmin('DELETE', `/webhooks/${webhook.id}`);
    await byAdmin('PUT', `/users/${bob.id}/role`, { role: 'user' });
    expect(await Promise.all(ends.map((end) => end()))).to.deep.equal([401, 404, 404]);
    for (const each of [channel, hidden])
      expect((await byAdmin('GET', `/channels/${each}/messages`)).messages).to.deep.equal([]);
  });

  it('aborts an export in progress', async () => {
    const cyd = await chat.join('cyd');
    await byAdmin('PUT', `/users/${cyd.id}/role`, { role: 'admin' });
    const channel = (await byAdmin('POST', '/channels', { name: 'long' })).channel.id;
    // More than fits in the buffers of a connection that is not read.
    const message = { content: '\u0001'.repeat(8000) };
    for (let remaining = 250; remaining > 0; remaining--)
      await byAdmin('POST', `/channels/${channel}/messages`, message);
    const sent = request(`${chat.base}/admin/export`, { headers: { authorization: `Bearer ${cyd.token}` } });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    await byAdmin('PUT', `/users/${cyd.id}/role`, { role: 'user' });
    expect(
      await text(response).then(
        () => 'all',
        ({ code }) => code,
      ),
    ).to.equal('ECONNRESET');
  });
});
