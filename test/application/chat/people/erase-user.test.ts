/** Deletion in the chat: no content remains in rows or in the log, even if the erasure was interrupted. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { EventLog, RecordedEvent } from '../../../../application/ports/index.js';
import type { ChatEvent } from '../../../../domain/chat/catalog.js';
import { CHANNELS } from '../../../../domain/chat/channels.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { threadStream } from '../../../../domain/chat/thread.js';
import { handlerFor } from '../../../../domain/shared/decider.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('deletion in the chat', function () {
  this.timeout(120_000);
  let servers: Servers;
  let node: ChatNode;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  afterEach(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await node?.stop();
  });
  const start = async (more: Parameters<typeof startChatNode>[2] = {}) => {
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`, more);
    return node.join(`ada${randomUUID().slice(0, 4)}`);
  };

  type Who = Awaited<ReturnType<typeof start>>;
  const channel = async (who: Who) =>
    accepted(await node.channels.create(who, { name: randomUUID() }, context())).body.channel.id;
  const post = async (who: Who, at: string, content: string) =>
    accepted(await node.messages.post(who, at, { content }, context())).body.message.id;
  const rowsOf = (channelId: string) =>
    Promise.all(
      [{ list: channelId }, { parentChannel: channelId }].map((filter) =>
        node.kernel.rows.find('chat.messages', { filter }),
      ),
    );
  const read = (messageId: string) => node.kernel.log.read(messageStream(messageId));

  it('leaves only MessageDeleted of a message, and answers a repeated deletion alike', async () => {
    const ada = await start({ react: true });
    const at = await channel(ada);
    const id = await post(ada, at, 'hello');
    accepted(await node.replies.post(ada, id, { content: 'reply' }, context()));
    const how = context(randomUUID(), 'body');
    const removed = accepted(await node.messages.remove(ada, id, how));
    await eventually(async () => {
      const events = await read(id);
      return typeof events !== 'string' && events.map(({ type }) => type).join() === 'MessageDeleted';
    });
    node.kernel.aggregates.forget(messageStream(id));
    expect(await node.messages.remove(ada, id, how)).to.deep.equal(removed);
    expect(await node.messages.remove(ada, id, context())).to.include({ kind: 'not-found' });
    expect(await node.replies.post(ada, id, { content: 'late' }, context())).to.include({
      kind: 'not-found',
    });
    // The rows retain only the id, the list and the position in it.
    const named = async () =>
      (await rowsOf(at)).flat().map((row) =>
        Object.keys(row as object)
          .sort()
          .join(),
      );
    await eventually(async () => (await named()).join(' ') === '_at,_id,list,place');
  });

  it('removes the key, rows and streams of a channel, and nothing of other channels', async () => {
    const ada = await start({ react: true });
    const [at, other] = [await channel(ada), await channel(ada)];
    const otherMessage = await post(ada, other, 'other');
    const ids = await Promise.all(Array.from({ length: 250 }, (_, n) => post(ada, at, `m${n}`)));
    const reply = async () =>
      accepted(await node.replies.post(ada, ids[0]!, { content: 'reply' }, context())).body.reply.id;
    const replies = [await reply(), await reply()];
    accepted(await node.replies.remove(ada, ids[0]!, replies[1]!, context()));
    accepted(await node.channels.remove(ada, at, context()));
    expect(await node.kernel.vault.seal(`chat.channel-${at}`, {})).to.equal(undefined);
    expect(await node.messages.post(ada, at, { content: 'late' }, context())).to.include({
      kind: 'not-found',
    });
    await eventually(async () => (await erasedOf()).includes(at));
    for (const id of [...ids, ...replies]) expect(await read(id)).to.equal('deleted');
    expect(await node.kernel.log.read(threadStream(ids[0]!))).to.equal('deleted');
    await eventually(async () => (await rowsOf(at)).flat().length === 0);
    expect(await read(otherMessage)).to.have.length(1);
    expect((await rowsOf(other)).flat()).to.have.length(1);
  });

  it('erases a channel though the log ends with the truncation of a thread', async () => {
    const ada = await start({ react: true });
    const at = await channel(ada);
    const id = await post(ada, at, 'hello');
    accepted(await node.replies.post(ada, id, { content: 'reply' }, context()));
    accepted(await node.messages.remove(ada, id, context()));
    const { position } = accepted(await node.channels.remove(ada, at, context()));
    const truncated = node.kernel.log.retain(threadStream(id), { maxCount: 1 });
    // Nothing else is written that would move the read models on.
    await truncated;
    expect((await node.kernel.head()) > position).to.equal(true);
    await eventually(async () => (await erasedOf()).includes(at));
  });

  const eventsOf = async () => {
    const events = await node.kernel.log.read(CHANNELS);
    return typeof events === 'string' ? [] : events;
  };
  const erasedOf = async () =>
    (await eventsOf()).filter(({ type }) => type === 'ChannelErased').map(({ data }) => data.channelId);

  it('completes the erasure of a channel once, wherever it was interrupted', async () => {
    let remaining = Number.POSITIVE_INFINITY;
    const between = (log: EventLog): Partial<EventLog> => ({
      async tombstone(stream) {
        if (remaining-- <= 0) throw new Error('interrupted');
        await log.tombstone(stream);
      },
    });
    const ada = await start({ between });
    const at = await channel(ada);
    const ids = await Promise.all(Array.from({ length: 30 }, (_, n) => post(ada, at, `m${n}`)));
    accepted(await node.channels.remove(ada, at, context()));
    const deleted = (await eventsOf()).find(({ type, data }) => type === 'ChannelDeleted' && data.channelId === at);
    const react = () => {
      const event = deleted as RecordedEvent<ChatEvent<'ChannelDeleted'>>;
      for (const { on } of node.reactions) {
        const work = handlerFor(on as never, event as never) as ((of: unknown) => Promise<void>) | undefined;
        if (work) return work(event);
      }
      throw new Error('no reaction to the deletion of a channel');
    };
    for (const most of [0, 7, 29]) {
      remaining = most;
      expect(await react().catch((error: Error) => error.message)).to.equal('interrupted');
      expect(await erasedOf()).not.to.include(at);
    }
    remaining = Number.POSITIVE_INFINITY;
    await react();
    await react();
    expect((await erasedOf()).filter((each) => each === at)).to.have.length(1);
    for (const id of ids) expect(await read(id)).to.equal('deleted');
    await eventually(async () => (await rowsOf(at)).flat().length === 0);
  });
});
