/** Cached pages of older messages: repeated without a query, and always current. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { rosterAggregate } from '../../../../application/chat/aggregates.js';
import { createPageCache } from '../../../../application/chat/messages/page-cache.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { messagingProjections } from '../../../../bin/services/definitions/chat.js';
import { ROSTER, roster } from '../../../../domain/chat/roster.js';
import { project } from '../../../support/test-kernel.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, somebody, startChatNode } from '../node.js';

describe('cached pages of older messages', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let feed: Promise<void>;
  let ada: Caller;
  let bob: Caller;
  let at: string;
  let ids: string[];

  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    feed = node.feed();
    [ada, bob] = [await node.join('ada'), await node.join('bob')];
  });
  after(async () => {
    await node?.stop();
    await feed;
    await servers?.stop();
  });
  beforeEach(async () => {
    at = accepted(await node.channels.create(ada, { name: randomUUID() }, context())).body.channel.id;
    ids = [];
    for (const content of ['one', 'two', 'three', 'four', 'five'])
      ids.push(accepted(await node.messages.post(ada, at, { content }, context())).body.message.id);
  });

  const pageBefore = async (before: string, limit = 2) =>
    JSON.parse(String(accepted(await node.reading.messages(somebody, at, { limit, before })).json)).messages;
  const contents = async (before: string, limit = 2): Promise<string[]> =>
    (await pageBefore(before, limit)).map(({ content }: { content: string }) => content);

  it('are queried once, until one of their messages changes', async () => {
    expect(await contents(ids[3]!)).to.deep.equal(['two', 'three']);
    const queries = node.finds();
    accepted(await node.messages.post(bob, at, { content: 'six' }, context()));
    accepted(await node.messages.edit(ada, ids[0]!, { content: 'first' }, context()));
    expect(await contents(ids[3]!)).to.deep.equal(['two', 'three']);
    expect(node.finds(), 'no query').to.equal(queries);
  });

  it('show changes of their messages without a query', async () => {
    await contents(ids[3]!);
    const queries = node.finds();
    const { edit, pin, react, remove } = node.messages;
    accepted(await edit(ada, ids[1]!, { content: 'second' }, context()));
    expect(await contents(ids[3]!)).to.deep.equal(['second', 'three']);
    accepted(await pin('PinMessage', bob, ids[1]!, context()));
    expect((await pageBefore(ids[3]!))[0].pinnedAt).to.be.a('number');
    accepted(await react('AddReaction', bob, ids[2]!, '+1', context()));
    expect((await pageBefore(ids[3]!))[1].reactions).to.deep.equal({ '+1': [bob.userId] });
    accepted(await node.replies.post(bob, ids[2]!, { content: 'reply' }, context()));
    expect((await pageBefore(ids[3]!))[1].threadMeta).to.include({ replyCount: 1 });
    expect(node.finds(), 'no query').to.equal(queries);
    accepted(await remove(ada, ids[2]!, context()));
    expect(await contents(ids[3]!)).to.deep.equal(['one', 'second']);
  });

  it('continue before a deleted message, including one that was the page boundary', async () => {
    expect(await contents(ids[3]!)).to.deep.equal(['two', 'three']);
    expect(await contents(ids[1]!)).to.deep.equal(['one']);
    accepted(await node.messages.remove(ada, ids[1]!, context()));
    for (const limit of [2, 3]) expect(await contents(ids[1]!, limit)).to.deep.equal(['one']);
    expect(await contents(ids[3]!)).to.deep.equal(['one', 'three']);
  });

  it('continue from a known boundary with a single query', async () => {
    await contents(ids[4]!);
    const queries = node.finds();
    expect(await contents(ids[2]!)).to.deep.equal(['one', 'two']);
    expect(node.finds()).to.equal(queries + 1);
  });

  it('are not cached if their channel was deleted while they were read', async () => {
    const pages = createPageCache();
    const range = { limit: 2, before: 'm2' };
    const deleted = { type: 'ChannelDeleted', data: { channelId: 'c' }, position: 6n } as never;
    for (const isDeleted of [true, false]) {
      await pages.fill({ channelId: 'c' }, range, async () => {
        if (isDeleted) pages.onEvent(deleted);
        return { found: [], position: 7n };
      });
      const expected = isDeleted ? undefined : '{"messages":[]}';
      expect(pages.render({ channelId: 'c' }, range, roster.initialState)).to.equal(expected);
    }
  });

  it('show the current names of authors', async () => {
    const named = async () => (await pageBefore(ids[3]!))[0].author.userName;
    const before = await named();
    const name = `ada ${randomUUID().slice(0, 8)}`;
    expect(before).not.to.equal(name);
    const rename = { type: 'RenameUser' as const, userId: ada.userId, userName: name, now: Date.now() };
    accepted(await node.kernel.handle(rosterAggregate, ROSTER, rename, context()));
    expect(await named()).to.equal(name);
  });

  it('are served before a message whose row another node has not written yet', async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    const writing = await startChatNode(servers, database, { projects: false });
    const reading = await startChatNode(servers, database, { projects: false });
    const stops = [new AbortController(), new AbortController()] as const;
    const projectors = [project(writing.kernel, messagingProjections, stops[0].signal)];
    try {
      const eve = await writing.join('eve');
      const place = accepted(await writing.channels.create(eve, { name: 'new' }, context())).body.channel.id;
      const post = async (content: string) =>
        accepted(await writing.messages.post(eve, place, { content }, context())).body.message.id;
      const first = await post('first');
      expect(accepted(await writing.reading.messages(somebody, place, { limit: 5 }))).not.to.have.property(
        'consistency',
      );
      stops[0].abort();
      await projectors[0]?.stopped;
      const second = await post('second');
      const queries = reading.finds();
      const page = reading.reading.messages(somebody, place, { limit: 5, before: second });
      while (reading.finds() === queries) await new Promise(setImmediate);
      projectors.push(project(writing.kernel, messagingProjections, stops[1].signal));
      const { messages } = JSON.parse(String(accepted(await page).json));
      expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal([first]);
    } finally {
      for (const stop of stops) stop.abort();
      for (const { stopped } of projectors) await stopped;
      await writing.stop();
      await reading.stop();
    }
  });
});
