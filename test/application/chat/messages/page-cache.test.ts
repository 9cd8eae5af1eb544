/** The cached newest page of a channel equals the read model, without querying it. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { createPageQueries } from '../../../../application/chat/messages/message-rows.js';
import { messageView } from '../../../../application/chat/messages/message-view.js';
import { CACHED_PAGE_SIZE, createPageCache } from '../../../../application/chat/messages/page-cache.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { createWritePositions } from '../../../../application/consistency/index.js';
import { roster } from '../../../../domain/chat/roster.js';
import { plainMessage } from '../../../support/chat-fixtures.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, somebody, startChatNode } from '../node.js';

const newest = { limit: 50 };

describe('the cached newest page of a channel', function () {
  this.timeout(120_000);
  let servers: Servers;
  let node: ChatNode;
  let feed: Promise<void>;
  let people: readonly Caller[];

  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    feed = node.feed();
    people = [await node.join('ada'), await node.join('bob'), await node.join('cyd')];
  });
  after(async () => {
    await node?.stop();
    await feed;
    await servers?.stop();
  });

  const channel = async () =>
    accepted(await node.channels.create(people[0]!, { name: randomUUID() }, context())).body.channel.id;
  const post = async (at: string, content: string, who = people[0]!) =>
    accepted(await node.messages.post(who, at, { content }, context())).body.message.id;
  const reply = async (to: string, content: string, who = people[0]!) =>
    accepted(await node.replies.post(who, to, { content }, context())).body.reply.id;
  const latestPage = async (at: string, limit = 50) =>
    JSON.parse(String(accepted(await node.reading.messages(somebody, at, { limit })).json)).messages;
  const latestReplies = async (at: string, to: string, limit = 50) =>
    JSON.parse(String(accepted(await node.reading.replies(somebody, at, to, { limit })).json)).replies;
  const contents = async (at: string, limit = 50) =>
    (await latestPage(at, limit)).map(({ content }: { content: string }) => content);

  /** The page as the read model has it, once projections have caught up. */
  async function rows(at: string, threadId?: string, limit = 50) {
    const pages = createPageQueries({ ...node.kernel, ...node, writePositions: createWritePositions() });
    const current = await pages.awaitRows(at, await node.kernel.head());
    const { found } = accepted(await pages.messages({ channelId: at, threadId }, { limit }, current));
    const { state } = await node.admission.roster();
    return JSON.parse(JSON.stringify(found.map(({ message }) => messageView(state, message))));
  }

  it('is queried once and then kept current by the live feed', async () => {
    const at = await channel();
    const ids = [await post(at, 'one'), await post(at, 'two')];
    expect(await contents(at)).to.deep.equal(['one', 'two']);
    const queries = node.finds();
    ids.push(await post(at, 'three'));
    expect(await contents(at)).to.deep.equal(['one', 'two', 'three']);
    expect(await contents(at, 2)).to.deep.equal(['two', 'three']);
    const [ada, bob] = people as [Caller, Caller];
    accepted(await node.messages.edit(ada, ids[0]!, { content: 'first' }, context()));
    accepted(await node.messages.pin('PinMessage', bob, ids[1]!, context()));
    accepted(await node.messages.react('AddReaction', bob, ids[1]!, '+1', context()));
    accepted(await node.replies.post(bob, ids[1]!, { content: 'reply' }, context()));
    accepted(await node.messages.remove(ada, ids[2]!, context()));
    const messages = await latestPage(at);
    expect(node.finds(), 'no query').to.equal(queries);
    expect(messages).to.deep.equal(await rows(at));
    expect(messages[0].content).to.equal('first');
    expect(messages[1]).to.deep.include({ reactions: { '+1': [bob.userId] } });
    expect(messages[1].threadMeta.replyCount).to.equal(1);
  });

  it('is kept for a thread as well', async () => {
    const at = await channel();
    const to = await post(at, 'parent');
    const ids = [await reply(to, 'one'), await reply(to, 'two')];
    const texts = async (limit?: number) =>
      (await latestReplies(at, to, limit)).map(({ content }: { content: string }) => content);
    expect(await texts()).to.deep.equal(['one', 'two']);
    const queries = node.finds();
    ids.push(await reply(to, 'three', people[1]));
    expect(await texts()).to.deep.equal(['one', 'two', 'three']);
    expect(await texts(2)).to.deep.equal(['two', 'three']);
    const [ada, bob] = people as [Caller, Caller];
    accepted(await node.messages.edit(ada, ids[0]!, { content: 'first' }, context()));
    accepted(await node.messages.react('AddReaction', bob, ids[1]!, '+1', context()));
    accepted(await node.replies.remove(bob, to, ids[2]!, context()));
    const replies = await latestReplies(at, to);
    expect(node.finds(), 'no query').to.equal(queries);
    expect(replies).to.deep.equal(await rows(at, to));
    expect(replies[0].content).to.equal('first');
    expect(replies[1]).to.deep.include({ reactions: { '+1': [bob.userId] } });
    const { position } = accepted(await node.channels.remove(ada, at, context()));
    const after = accepted(await node.reading.replies(somebody, at, to, { limit: 50 }, position));
    expect(String(after.json)).not.to.include('first');
  });

  it('holds CACHED_PAGE_SIZE messages; larger and older pages are queried', async () => {
    const at = await channel();
    await contents(at);
    const all = Array.from({ length: CACHED_PAGE_SIZE + 5 }, (_, n) => `m${n}`);
    for (const each of all) await post(at, each);
    const queries = node.finds();
    expect(await contents(at, CACHED_PAGE_SIZE)).to.deep.equal(all.slice(5));
    expect(node.finds()).to.equal(queries);
    expect(await contents(at, CACHED_PAGE_SIZE + 5)).to.deep.equal(all);
    expect(node.finds()).to.be.greaterThan(queries);
  });

  it('is queried again when deletions leave it incomplete', async () => {
    const at = await channel();
    await contents(at);
    const ids: string[] = [];
    for (let n = 0; n < CACHED_PAGE_SIZE + 3; n++) ids.push(await post(at, `m${n}`));
    expect(await contents(at, 1)).to.deep.equal([`m${CACHED_PAGE_SIZE + 2}`]);
    for (const id of ids.slice(-2)) accepted(await node.messages.remove(people[0]!, id, context()));
    const queries = node.finds();
    expect((await contents(at, CACHED_PAGE_SIZE))[0]).to.equal('m1');
    expect(node.finds()).to.be.greaterThan(queries);
  });

  it('shows the current names of authors', async () => {
    const at = await channel();
    const dan = await node.join(`dan${randomUUID().slice(0, 4)}`);
    await post(at, 'hello', dan);
    const nameIn = async () => (await latestPage(at))[0].author.userName;
    expect(await nameIn()).to.equal(dan.userName);
    const { handle } = node.kernel;
    const { rosterAggregate } = await import('../../../../application/chat/aggregates.js');
    const renaming = {
      type: 'RenameUser' as const,
      userId: dan.userId,
      userName: `${dan.userName}!`,
      now: 0,
    };
    accepted(await handle(rosterAggregate, 'chat.roster-main', renaming, context()));
    expect(await nameIn()).to.equal(`${dan.userName}!`);
  });

  it('is dropped with its channel', async () => {
    const at = await channel();
    await post(at, 'hello');
    await latestPage(at);
    const { position } = accepted(await node.channels.remove(people[0]!, at, context()));
    const messages = accepted(await node.reading.messages(somebody, at, { limit: 50 }, position));
    expect(String(messages.json)).not.to.include('hello');
  });

  it('is dropped with the message of its thread', async () => {
    const cache = createPageCache();
    const list = { channelId: 'c', threadId: 'm' };
    const data = { messageId: 'm', channelId: 'c' };
    await cache.fill(list, newest, async () => ({ found: [], position: 1n }));
    expect(cache.render(list, newest, roster.initialState)).to.equal('{"replies":[]}');
    cache.onEvent({ type: 'MessageDeleted', data, position: 2n, erased: false } as never);
    expect(cache.render(list, newest, roster.initialState)).to.equal(undefined);
  });

  it('is bypassed when a write is acknowledged that the live feed has not delivered', async () => {
    const withoutFeed = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    try {
      const ada = await withoutFeed.join(`ada${randomUUID().slice(0, 4)}`);
      const { body } = accepted(await withoutFeed.channels.create(ada, { name: randomUUID() }, context()));
      const { id } = body.channel;
      const read = async () =>
        JSON.parse(String(accepted(await withoutFeed.reading.messages(somebody, id, { limit: 50 })).json)).messages;
      expect(await read()).to.deep.equal([]);
      accepted(await withoutFeed.messages.post(ada, id, { content: 'hello' }, context()));
      expect(await read()).to.have.length(1);
    } finally {
      await withoutFeed.kernel.mongo.models.dropDatabase();
      await withoutFeed.stop();
    }
  });

  it('applies an event once that both the rows and the feed contain', async () => {
    const cache = createPageCache();
    const event = (position: bigint, userId: string) =>
      ({
        type: 'ReactionAdded',
        data: {
          messageId: 'm',
          channelId: 'c',
          userId,
          place: 0,
          sign: 0,
          addedAt: 0,
          secret: { reaction: '+1' },
        },
        position,
        erased: false,
      }) as unknown as Parameters<typeof cache.onEvent>[0];
    const message = { ...plainMessage('m'), reactions: { '+1': ['ada', 'bob'] } };
    await cache.fill({ channelId: 'c' }, newest, async () => {
      for (const [at, who] of ['ada', 'bob', 'cyd'].entries()) cache.onEvent(event(BigInt(at + 1), who));
      return { found: [{ message, posted: 1n, at: 2n }], position: 2n };
    });
    const [rendered] = JSON.parse(cache.render({ channelId: 'c' }, { limit: 50 }, roster.initialState) ?? '').messages;
    expect(rendered.reactions).to.deep.equal({ '+1': ['ada', 'bob', 'cyd'] });
  });

  it('is ordered by posting time even if the rows are ahead of the feed', async () => {
    const cache = createPageCache();
    const found = [{ message: plainMessage('later'), posted: 12n, at: 12n }];
    const { author, createdAt, quotedMessageId, body } = plainMessage('m');
    const data = { messageId: 'sooner', channelId: 'c', author, createdAt, quotedMessageId, secret: body };
    await cache.fill({ channelId: 'c' }, newest, async () => ({ found, position: 12n }));
    cache.onEvent({ type: 'MessagePosted', data, position: 11n, erased: false } as never);
    const { messages } = JSON.parse(cache.render({ channelId: 'c' }, newest, roster.initialState) ?? '');
    expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal(['sooner', 'later']);
  });

  it('is queried again after an event could not be applied', async () => {
    const cache = createPageCache();
    const found = [{ message: plainMessage('m'), posted: 1n, at: 1n }];
    await cache.fill({ channelId: 'c' }, newest, async () => ({ found, position: 1n }));
    expect(cache.render({ channelId: 'c' }, { limit: 50 }, roster.initialState)).to.be.a('string');
    const damaged = {
      type: 'MessageEdited',
      data: { messageId: 'm', channelId: 'c' },
      position: 2n,
    } as unknown as Parameters<typeof cache.onEvent>[0];
    expect(() => cache.onEvent(damaged)).to.throw();
    expect(cache.render({ channelId: 'c' }, { limit: 50 }, roster.initialState)).to.equal(undefined);
    expect(cache.feedPosition()).to.equal(2n);
  });

  const who = fc.nat(2);
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant('post' as const), who }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('edit' as const), who, n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('remove' as const), who, n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('pin' as const), who, n: fc.nat(30) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('unpin' as const), who, n: fc.nat(30) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('react' as const), who, n: fc.nat(30) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('unreact' as const), who, n: fc.nat(30) }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('reply' as const), who, n: fc.nat(30) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('read' as const), who }) },
  );

  it('equals the read model under concurrent commands', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const at = await channel();
      const ids: string[] = [];
      const threads = new Set<string>();
      const take = async (each: (typeof steps)[number]) => {
        const by = people[each.who]!;
        if (each.type === 'post') return void ids.push(await post(at, `m${ids.length}`, by));
        if (each.type === 'read') {
          for (const id of threads) await latestReplies(at, id);
          return void (await latestPage(at));
        }
        const id = ids[each.n % Math.max(1, ids.length)];
        if (id === undefined) return;
        const { messages, replies } = node;
        if (each.type === 'edit') await messages.edit(by, id, { content: randomUUID() }, context());
        else if (each.type === 'remove') await messages.remove(by, id, context());
        else if (each.type === 'pin') await messages.pin('PinMessage', by, id, context());
        else if (each.type === 'unpin') await messages.pin('UnpinMessage', by, id, context());
        else if (each.type === 'react') await messages.react('AddReaction', by, id, `r${each.who}`, context());
        else if (each.type === 'unreact') await messages.react('RemoveReaction', by, id, `r${each.who}`, context());
        else {
          // A reply can be changed like any message, but not replied to.
          const replied = await replies.post(by, id, { content: 'reply' }, context());
          if (!('rejected' in replied)) ids.push(replied.body.reply.id);
          threads.add(id);
        }
      };
      // Three commands run concurrently.
      for (let from = 0; from < steps.length; from += 3) await Promise.all(steps.slice(from, from + 3).map(take));
      expect(await latestPage(at)).to.deep.equal(await rows(at));
      for (const id of threads) expect(await latestReplies(at, id)).to.deep.equal(await rows(at, id));
    });
    await fc.assert(property, { numRuns: 12 });
  });
});
