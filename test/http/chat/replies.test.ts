/** A reply is a message: edited, deleted, reacted to and quoted by its own id, and gone with its thread. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { EventStream } from '../../support/http-spec.js';

type Any = ReturnType<typeof JSON.parse>;

describe('replies of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let general: string;
  let parent: string;
  let reply: string;
  before(async () => {
    world = await startChat();
    general = (await world.done(world.ada, 'GET', '/channels')).channels[0].id;
  });
  after(() => world?.stop());
  beforeEach(async () => {
    const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, { content: 'parent' });
    parent = message.id;
    reply = (await world.done(world.bob, 'POST', `/messages/${parent}/thread`, { content: 'reply' })).reply.id;
  });

  const replies = async (): Promise<Any[]> =>
    (await world.done(world.cyd, 'GET', `/messages/${parent}/thread`)).replies;
  const inChannel = async (): Promise<Any> =>
    (await world.done(world.cyd, 'GET', `/channels/${general}/messages`)).messages.find(({ id }: Any) => id === parent);

  it('are edited by their author, with a history', async () => {
    expect((await world.as(world.ada, 'PUT', `/messages/${reply}`, { content: 'no' })).status).to.equal(403);
    const { message } = await world.done(world.bob, 'PUT', `/messages/${reply}`, { content: 'edited' });
    expect(message).to.include({ id: reply, threadId: parent, content: 'edited' });
    expect(await replies()).to.deep.equal([message]);
    const { history } = await world.done(world.cyd, 'GET', `/messages/${reply}/history`);
    expect(history.map(({ content }: Any) => content)).to.deep.equal(['reply', 'edited']);
  });

  it('have reactions', async () => {
    await world.done(world.cyd, 'POST', `/messages/${reply}/reactions`, { reaction: '+1' });
    const { message } = await world.done(world.ada, 'POST', `/messages/${reply}/reactions`, { reaction: '+1' });
    expect(message.reactions).to.deep.equal({ '+1': [world.cyd.id, world.ada.id] });
    expect((await replies())[0].reactions).to.deep.equal(message.reactions);
    await world.done(world.cyd, 'DELETE', `/messages/${reply}/reactions`, { reaction: '+1' });
    expect((await replies())[0].reactions).to.deep.equal({ '+1': [world.ada.id] });
    expect((await inChannel()).reactions).to.deep.equal({});
  });

  it('can be quoted, but neither pinned nor replied to', async () => {
    const quoting = { content: 'as he says', quotedMessageId: reply };
    const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, quoting);
    expect(message.quotedMessageId).to.equal(reply);
    for (const path of [`/messages/${reply}/pin`, `/messages/${reply}/thread`])
      expect((await world.as(world.ada, 'POST', path, { content: 'x' })).status, path).to.equal(400);
  });

  it('are deleted by their author or an admin, which updates the thread', async () => {
    const { reply: second } = await world.done(world.cyd, 'POST', `/messages/${parent}/thread`, { content: 'two' });
    expect((await world.as(world.ada, 'DELETE', `/messages/${reply}`)).status).to.equal(403);
    await world.done(world.admin, 'DELETE', `/messages/${second.id}`);
    expect((await inChannel()).threadMeta).to.deep.include({ replyCount: 1, participants: [world.bob.id] });
    await world.done(world.bob, 'DELETE', `/messages/${reply}`);
    expect(await inChannel()).not.to.have.property('threadMeta');
    expect(await replies()).to.deep.equal([]);
    expect((await world.as(world.bob, 'DELETE', `/messages/${reply}`)).status).to.equal(404);
  });

  it('send frames with the summary of their thread, as do edits and pins of its message', async () => {
    const stream = await EventStream.to(world.base, { token: world.cyd.token });
    const { message: edited } = await world.done(world.bob, 'PUT', `/messages/${reply}`, { content: 'edited' });
    const { message: pinned } = await world.done(world.ada, 'POST', `/messages/${parent}/pin`, {});
    await world.done(world.ada, 'POST', `/messages/${reply}/reactions`, { reaction: '+1' });
    const { reply: second, threadMeta } = await world.done(world.ada, 'POST', `/messages/${parent}/thread`, {
      content: 'two',
    });
    const { message: renamed } = await world.done(world.ada, 'PUT', `/messages/${parent}`, { content: 'again' });
    await world.done(world.bob, 'DELETE', `/messages/${reply}`);
    await world.done(world.ada, 'DELETE', `/messages/${parent}`);
    await eventually(() => stream.frames.some(({ type }) => type === 'DELETE_MESSAGE'));
    stream.close();
    const frames = stream.frames.filter(({ type }) => type !== 'CONNECTED' && type !== 'PRESENCE_UPDATE');
    const one = pinned.threadMeta;
    expect(one.replyCount).to.equal(1);
    expect(renamed.threadMeta).to.deep.equal(threadMeta);
    expect(frames.map(({ type, payload }) => [type, payload.threadMeta])).to.deep.equal([
      ['UPDATE_THREAD_REPLY', one],
      ['UPDATE_MESSAGE', one],
      ['NEW_REACTION', undefined],
      ['NEW_THREAD_REPLY', threadMeta],
      ['UPDATE_MESSAGE', threadMeta],
      ['DELETE_THREAD_REPLY', { ...threadMeta, replyCount: 1, participants: [world.ada.id] }],
      ['DELETE_MESSAGE', undefined],
    ]);
    expect(frames[0]!.payload).to.deep.equal({ ...edited, parentMessageId: parent, threadMeta: one });
    expect(frames[3]!.payload).to.deep.equal({ ...second, parentMessageId: parent, threadMeta, reply: second });
  });

  it('are gone with their message, from every route and the search', async () => {
    const word = `w${reply.slice(0, 8).replace(/\W/g, 'x')}`;
    await world.done(world.bob, 'PUT', `/messages/${reply}`, { content: word });
    const search = async () => (await world.done(world.cyd, 'GET', `/search/messages?q=${word}`)).messages;
    expect(await search()).to.have.length(1);
    await world.done(world.ada, 'DELETE', `/messages/${parent}`);
    expect(await search()).to.deep.equal([]);
    const tries = [
      ['GET', `/messages/${parent}/thread`],
      ['POST', `/messages/${parent}/thread`],
      ['PUT', `/messages/${reply}`],
      ['DELETE', `/messages/${reply}`],
      ['POST', `/messages/${reply}/reactions`],
      ['GET', `/messages/${reply}/history`],
      ['PUT', `/messages/${parent}/thread/${reply}`],
      ['DELETE', `/messages/${parent}/thread/${reply}`],
    ] as const;
    for (const [method, path] of tries) {
      const body = method === 'GET' ? undefined : { content: 'x', reaction: '+1' };
      expect((await world.as(world.bob, method, path, body)).status, `${method} ${path}`).to.equal(404);
    }
  });
});
