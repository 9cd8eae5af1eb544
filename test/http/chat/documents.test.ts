/** The OpenAPI document of the chat, checked against what its routes answer. */
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { Examined } from '../../support/openapi-check.js';

const WRONG: readonly { readonly [name: string]: string }[] = [
  { 'content-type': 'text/plain' },
  { 'content-encoding': 'br' },
];

describe('OpenAPI document of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let chat: Examined;
  before(async () => {
    world = await startChat();
    chat = await Examined.at(world.base, { authorization: `Bearer ${world.admin.token}` });
  });
  after(() => world?.stop());

  it('is valid OpenAPI 3.1', async () => {
    const { errors } = await new Validator().validate(JSON.parse(JSON.stringify(chat.document)));
    expect(errors ?? []).to.deep.equal([]);
  });

  it('documents 415 for every route with a body, which answers it to other types and encodings', async () => {
    const { admin, ada } = world;
    const { channel } = await world.done(admin, 'POST', '/channels', { name: 'documents' });
    const messages = `/channels/${channel.id}/messages`;
    const { message } = await world.done(admin, 'POST', messages, { content: 'hello' });
    const thread = `/messages/${message.id}/thread`;
    const { reply } = await world.done(admin, 'POST', thread, { content: 'reply' });
    const { conversation } = await world.done(admin, 'POST', '/conversations', { targetUserId: ada.id });
    const body = { name: 'Bot', channelId: channel.id };
    const { webhook } = await world.done(admin, 'POST', '/webhooks', body);
    const ids: { readonly [name: string]: string } = {
      id: ada.id,
      channelId: channel.id,
      messageId: message.id,
      replyId: reply.id,
      conversationId: conversation.id,
      webhookId: webhook.id,
    };
    const webhookPath = '/webhooks/{webhookId}/messages';
    const reading = chat.operations.filter(([, , { requestBody }]) => requestBody);
    expect(reading.length).to.be.greaterThan(20);
    for (const [path, method, { responses }] of reading) {
      expect(responses, `${method} ${path}`).to.have.property('415');
      const target = path.replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? name);
      const { token } = path === webhookPath ? webhook : admin;
      for (const wrong of WRONG)
        expect(
          (
            await chat.ask(method, path, {
              target,
              headers: { authorization: `Bearer ${token}`, ...wrong },
              body: '{}',
            })
          ).status,
          `${method} ${path} ${JSON.stringify(wrong)}`,
        ).to.equal(415);
    }
  });
});
