/** Checks the OpenAPI document of chat: valid and malformed requests get only documented answers. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask, devLogin } from '../support/http-spec.js';
import { Examined } from '../support/openapi-check.js';
import { type Server, startServer } from '../support/server-process.js';

describe('chat OpenAPI document', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;

  before(async () => {
    server = await startServer(directory.path, ['chat']);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const unknown = (path: string) => path.replaceAll(/\{\w+\}/g, 'x');
  /** The event stream never ends, and after these routes the caller is signed out. */
  const goesOn = (path: string, method: string) =>
    path !== '/events' && path !== '/auth/logout' && !(path === '/auth/sessions' && method === 'DELETE');

  it('documents every answer to anonymous callers', async () => {
    const chat = await Examined.at(server.urls.chat);
    await chat.storm(unknown, {});
  });

  it('documents every answer to an admin about missing resources', async () => {
    const { token } = await devLogin(server.urls.chat!, 'admin@localhost');
    const chat = await Examined.at(server.urls.chat, { authorization: `Bearer ${token}` });
    await chat.storm(unknown, {}, goesOn);
    await chat.stall(unknown);
  });

  it('documents every answer to an admin about existing resources until they are deleted', async () => {
    const base = server.urls.chat!;
    const { token } = await devLogin(base, 'admin@localhost');
    const done = async (path: string, body: object) => {
      const answered = await ask(base, 'POST', path, { token, body });
      expect(answered.status, path).to.equal(200);
      return answered.body;
    };
    const { userId: id } = await done('/users/add', { email: 'bob@example.org', role: 'user' });
    const { channel } = await done('/channels', { name: 'here', members: [id] });
    const { message } = await done(`/channels/${channel.id}/messages`, { content: 'hello' });
    const { reply } = await done(`/messages/${message.id}/thread`, { content: 'hello yourself' });
    const { conversation } = await done('/conversations', { targetUserId: id });
    const { webhook } = await done('/webhooks', { name: 'bot', channelId: channel.id });
    const ids: { readonly [name: string]: string } = {
      id,
      channelId: channel.id,
      messageId: message.id,
      replyId: reply.id,
      conversationId: conversation.id,
      webhookId: webhook.id,
    };
    const known = (path: string) => path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? 'x');
    const chat = await Examined.at(base, { authorization: `Bearer ${token}` });
    await chat.storm(known, {}, (path, method) => goesOn(path, method) && method !== 'DELETE');
    await chat.storm(known, {}, (path, method) => goesOn(path, method) && method === 'DELETE');
  });
});
