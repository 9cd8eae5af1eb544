/** Every type of frame of the chat's event stream, produced by real commands, checked against its schema in `/openapi.json`. */
import { eventually } from '@annals/engines/testing/condition.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { ask, EventStream, type Frame } from '../../support/http-spec.js';

/** The required payload fields of each type. */
const FIELDS: { readonly [type: string]: readonly string[] } = {
  CONNECTED: ['message', 'timestamp', 'userId', 'connectionId'],
  NEW_MESSAGE: ['id', 'channelId', 'author', 'content', 'createdAt'],
  UPDATE_MESSAGE: ['id', 'content', 'updatedAt'],
  DELETE_MESSAGE: ['id', 'channelId'],
  NEW_CHANNEL: ['id', 'name', 'createdAt'],
  UPDATE_CHANNEL: ['id', 'name'],
  DELETE_CHANNEL: ['id', 'name'],
  NEW_REACTION: ['messageId', 'userId', 'reaction'],
  DELETE_REACTION: ['messageId', 'userId', 'reaction'],
  NEW_USER: ['id', 'userName', 'email'],
  REMOVE_USER: ['id', 'email'],
  USER_EXIT: ['id', 'userName'],
  UPDATE_USER: ['id', 'userName'],
  NEW_CONVERSATION: ['id', 'participants', 'createdAt'],
  NEW_DM_MESSAGE: ['id', 'channelId', 'author', 'content', 'participants'],
  UPDATE_DM_MESSAGE: ['id', 'content', 'participants'],
  DELETE_DM_MESSAGE: ['id', 'conversationId', 'participants'],
  NEW_THREAD_REPLY: ['parentMessageId', 'channelId', 'reply', 'threadMeta'],
  UPDATE_THREAD_REPLY: ['id', 'content', 'author', 'updatedAt', 'parentMessageId', 'threadMeta'],
  DELETE_THREAD_REPLY: ['id', 'threadId', 'channelId', 'threadMeta'],
  NEW_WEBHOOK: ['id', 'name', 'channelId'],
  DELETE_WEBHOOK: ['id', 'channelId'],
  UPDATE_SERVER_SETTINGS: ['name'],
  PRESENCE_UPDATE: ['userId', 'status', 'lastSeen'],
};

interface FrameSchema {
  readonly title: string;
  readonly properties: {
    readonly payload?: { readonly required: readonly string[]; readonly properties: object };
  };
}

/** Compiles each schema once. */
const ajv = new Ajv2020({ strict: false });

describe('event frame schemas of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let schemas: readonly FrameSchema[];
  before(async () => {
    world = await startChat();
    const { body } = await ask(world.base, 'GET', '/openapi.json');
    schemas = body.paths['/events'].get.responses['200'].content['text/event-stream'].schema.oneOf;
  });
  after(() => world?.stop());

  it('exist for each type, and require the fields of the specification', () => {
    expect(schemas.map(({ title }) => title)).to.have.members([...Object.keys(FIELDS), 'RESET']);
    for (const { title, properties } of schemas.filter(({ title }) => title !== 'RESET'))
      expect(properties.payload?.required, title).to.include.members([...FIELDS[title]!]);
  });

  it('match every frame, without unnamed members', async () => {
    const { base, ada, bob, admin } = world;
    const stream = await EventStream.to(base, { token: ada.token });
    const reset = await EventStream.to(base, { token: ada.token, headers: { 'last-event-id': 'unknown' } });
    await produceAllFrames();
    const seen = () => new Set(stream.frames.map(({ type }) => type));
    await eventually(() => Object.keys(FIELDS).every((type) => seen().has(type)));
    await eventually(() => reset.frames.some(({ type }) => type === 'RESET'));
    for (const each of [...stream.frames, ...reset.frames]) expectValid(each);
    for (const each of [stream, reset]) each.close();

    async function produceAllFrames() {
      const as = (method: string, path: string, body?: object) => world.done(ada, method, path, body);
      const asAdmin = (method: string, path: string, body?: object) => world.done(admin, method, path, body);
      const { id } = (await as('POST', '/channels', { name: 'frames', topic: 'all' })).channel;
      await as('PUT', `/channels/${id}`, { topic: 'all of them' });
      const { message } = await as('POST', `/channels/${id}/messages`, { content: 'hello @bob' });
      await as('PUT', `/messages/${message.id}`, { content: 'hi', quotedMessageId: null });
      await as('POST', `/messages/${message.id}/pin`, {});
      for (const method of ['POST', 'DELETE'])
        await as(method, `/messages/${message.id}/reactions`, { reaction: '👍' });
      const thread = `/messages/${message.id}/thread`;
      const replies = [
        (await as('POST', thread, { content: 'one' })).reply,
        (await as('POST', thread, { content: 'two' })).reply,
      ];
      await as('PUT', `${thread}/${replies[0].id}`, { content: 'first' });
      await as('PUT', `/messages/${message.id}`, { content: 'with a thread' });
      for (const reply of replies) await as('DELETE', `${thread}/${reply.id}`);
      await as('DELETE', `/messages/${message.id}`);

      const { webhook } = await asAdmin('POST', '/webhooks', { name: 'Bot', channelId: id });
      const request = { token: webhook.token, body: { content: 'beep' } };
      expect((await ask(base, 'POST', `/webhooks/${webhook.id}/messages`, request)).status).to.equal(200);
      await asAdmin('DELETE', `/webhooks/${webhook.id}`);
      await as('DELETE', `/channels/${id}`);

      const { conversation } = await as('POST', '/conversations', { targetUserId: bob.id });
      const direct = `/conversations/${conversation.id}/messages`;
      const { message: posted } = await as('POST', direct, { content: 'psst' });
      await as('PUT', `${direct}/${posted.id}`, { content: 'hey' });
      await as('POST', `/messages/${posted.id}/reactions`, { reaction: '👍' });
      await as('DELETE', `${direct}/${posted.id}`);

      const [leaver, removed] = [await world.join('leaving'), await world.join('removed')];
      await world.done(leaver, 'PUT', '/users/me', { userName: 'On the way out' });
      await world.done(leaver, 'POST', '/users/exit', {});
      await asAdmin('DELETE', `/users/${removed.id}`);
      await asAdmin('PUT', '/server/settings', { name: 'The Office' });
      await as('PUT', '/presence/me', { status: 'away' });
    }

    function expectValid(frame: Frame) {
      const schema = schemas.find(({ title }) => title === frame.type);
      expect(schema, frame.type).to.be.an('object');
      expect(ajv.validate(schema!, frame), `${JSON.stringify(frame)} ${ajv.errorsText()}`).to.equal(true);
      const named = schema!.properties.payload?.properties ?? {};
      const unnamed = Object.keys(frame.payload ?? {}).filter((name) => !(name in named));
      expect(unnamed, frame.type).to.deep.equal([]);
    }
  });
});
