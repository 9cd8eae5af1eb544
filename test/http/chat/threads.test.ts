/** Threads over HTTP. */
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';

describe('threads of the chat', function () {
  this.timeout(60_000);
  let world: ChatWorld;
  let general: string;
  let parent: string;
  before(async () => {
    world = await startChat();
    const { channels } = await world.done(world.ada, 'GET', '/channels');
    general = channels[0].id;
  });
  after(() => world?.stop());
  beforeEach(async () => {
    const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, {
      content: 'parent',
    });
    parent = message.id;
  });

  const reply = (who = world.bob, content = 'reply', id = parent) =>
    world.done(who, 'POST', `/messages/${id}/thread`, { content });
  const thread = async (query = '') =>
    (await world.done(world.cyd, 'GET', `/messages/${parent}/thread${query}`)).replies as {
      content: string;
    }[];
  const contents = async (query = '') => (await thread(query)).map(({ content }) => content);
  const meta = async () => {
    const { messages } = await world.done(world.cyd, 'GET', `/channels/${general}/messages?limit=1`);
    return messages[0].threadMeta;
  };

  it('return complete replies, and a summary of the thread', async () => {
    expect(await meta()).to.equal(undefined);
    const { reply: made, threadMeta } = await reply();
    expect(made).to.deep.include({
      threadId: parent,
      channelId: general,
      author: { id: world.bob.id, userName: 'bob' },
      content: 'reply',
      attachments: [],
      images: [],
      mentions: [],
      quotedMessageId: null,
      updatedAt: null,
    });
    expect(threadMeta).to.deep.equal({
      replyCount: 1,
      lastReplyAt: made.createdAt,
      lastReplyBy: { id: world.bob.id, userName: 'bob' },
      participants: [world.bob.id],
    });
    expect(await thread()).to.deep.equal([made]);
    expect(await meta()).to.deep.equal(threadMeta);
  });

  it('are paged from the newest, each page in order, and before a given reply', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 52; n++) ids.push((await reply(world.bob, `r${n}`)).reply.id);
    const all = Array.from({ length: 52 }, (_, n) => `r${n}`);
    expect(await contents()).to.deep.equal(all.slice(2));
    expect(await contents('?limit=2')).to.deep.equal(['r50', 'r51']);
    expect(await contents(`?limit=2&before=${ids[5]}`)).to.deep.equal(['r3', 'r4']);
    expect(await contents(`?before=${ids[0]}`)).to.deep.equal([]);
    await world.done(world.bob, 'DELETE', `/messages/${parent}/thread/${ids[5]}`);
    expect(await contents(`?limit=2&before=${ids[5]}`), 'deleted').to.deep.equal(['r3', 'r4']);
    const neverExisted = `before=${ids[5]!.slice(0, -1)}${ids[5]!.endsWith('-') ? 'A' : '-'}`;
    for (const query of ['limit=0', 'limit=x', 'before=unknown', `before=${parent}`, neverExisted])
      expect((await world.as(world.cyd, 'GET', `/messages/${parent}/thread?${query}`)).status, query).to.equal(400);
  });

  it('let only authors edit their replies', async () => {
    const { reply: made } = await reply();
    const path = `/messages/${parent}/thread/${made.id}`;
    const { message } = await world.done(world.bob, 'PUT', path, { content: 'edited' });
    expect(message).to.deep.include({ id: made.id, content: 'edited', createdAt: made.createdAt });
    expect(message.updatedAt).to.be.at.least(made.createdAt);
    expect(await thread()).to.deep.equal([message]);
    for (const [who, status] of [
      [world.ada, 403],
      [world.admin, 403],
      [undefined, 401],
    ] as const)
      expect((await world.as(who, 'PUT', path, { content: 'x' })).status).to.equal(status);
    for (const body of [{ content: ' ' }, { content: 7 }])
      expect((await world.as(world.bob, 'PUT', path, body)).status).to.equal(400);
    const { history } = await world.done(world.cyd, 'GET', `/messages/${made.id}/history`);
    expect(history.map(({ content }: { content: string }) => content)).to.deep.equal(['reply', 'edited']);
  });

  it('keep a quote of a deleted reply when edited, and never let a reply quote itself', async () => {
    const { reply: quoted } = await reply();
    const input = { content: 'see', quotedMessageId: quoted.id };
    const { reply: made } = await world.done(world.bob, 'POST', `/messages/${parent}/thread`, input);
    const edit = (body: object) => world.as(world.bob, 'PUT', `/messages/${parent}/thread/${made.id}`, body);
    await world.done(world.bob, 'DELETE', `/messages/${parent}/thread/${quoted.id}`);
    const { status, body } = await edit({ ...input, content: 'look' });
    expect([status, body.message?.quotedMessageId]).to.deep.equal([200, quoted.id]);
    for (const refused of [{}, { quotedMessageId: made.id }])
      expect((await edit(refused)).status, JSON.stringify(refused)).to.equal(400);
    expect((await thread()).at(-1)).to.deep.equal(body.message);
  });

  it('merge concurrent edits of different fields, and record no version for an edit without changes', async () => {
    for (let round = 0; round < 10; round++) {
      const { reply: made } = await reply();
      const path = `/messages/${parent}/thread/${made.id}`;
      const content = `edited ${round}`;
      await Promise.all([
        world.done(world.bob, 'PUT', path, { content }),
        world.done(world.bob, 'PUT', path, { quotedMessageId: parent }),
      ]);
      const same = await world.done(world.bob, 'PUT', path, { content });
      expect(same.message).to.include({ content, quotedMessageId: parent });
      expect((await thread()).at(-1)).to.deep.equal(same.message);
      const { history } = await world.done(world.cyd, 'GET', `/messages/${made.id}/history`);
      expect(history).to.have.length(3);
    }
  });

  it('update the summary when a reply is deleted by its author or an admin', async () => {
    const first = await reply(world.bob, 'one');
    const second = await reply(world.cyd, 'two');
    const third = await reply(world.bob, 'three');
    const path = (id: string) => `/messages/${parent}/thread/${id}`;
    expect((await world.as(world.ada, 'DELETE', path(third.reply.id))).status).to.equal(403);
    const deleted = await world.done(world.bob, 'DELETE', path(third.reply.id));
    expect(deleted).to.deep.include({ success: true });
    expect(await meta()).to.deep.equal({ ...second.threadMeta });
    await world.done(world.admin, 'DELETE', path(second.reply.id));
    expect(await meta()).to.deep.equal(first.threadMeta);
    await world.done(world.bob, 'DELETE', path(first.reply.id));
    expect(await meta()).to.equal(undefined);
    expect(await thread()).to.deep.equal([]);
    for (const method of ['PUT', 'DELETE'])
      expect((await world.as(world.bob, method, path(first.reply.id), { content: 'x' })).status).to.equal(404);
  });

  it('belong to messages of channels, and contain only their own replies', async () => {
    const { reply: made } = await reply();
    const { message: other } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, {
      content: 'x',
    });
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { content: 'x' }],
    ] as const) {
      expect((await world.as(world.ada, method, `/messages/${made.id}/thread`, body)).status).to.equal(400);
      const unknown = `${parent}.${'x'.repeat(22)}`;
      expect((await world.as(world.ada, method, `/messages/${unknown}/thread`, body)).status).to.equal(404);
    }
    for (const [method, body] of [
      ['PUT', { content: 'x' }],
      ['DELETE', undefined],
    ] as const) {
      const elsewhere = `/messages/${other.id}/thread/${made.id}`;
      expect((await world.as(world.bob, method, elsewhere, body)).status, method).to.equal(404);
      expect((await world.as(world.bob, method, `/messages/${parent}/thread/x`, body)).status).to.equal(404);
    }
    expect(await thread()).to.have.length(1);
    for (const body of [{}, { content: '  ' }, { content: 'x'.repeat(8001) }])
      expect((await world.as(world.ada, 'POST', `/messages/${parent}/thread`, body)).status).to.equal(400);
  });

  it('are deleted with their message', async () => {
    const { reply: made } = await reply();
    await world.done(world.ada, 'DELETE', `/messages/${parent}`);
    for (const path of [`/messages/${parent}/thread`, `/messages/${made.id}/history`])
      expect((await world.as(world.cyd, 'GET', path)).status).to.equal(404);
  });

  it('store a reply once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'reply-once' };
    const send = () => world.as(world.bob, 'POST', `/messages/${parent}/thread`, { content: 'once' }, { headers });
    const first = await send();
    await reply(world.cyd, 'later');
    expect((await send()).body).to.deep.equal(first.body);
    expect(await contents()).to.deep.equal(['once', 'later']);
  });
});
