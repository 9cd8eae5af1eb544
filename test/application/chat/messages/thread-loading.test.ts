/** Reading a long thread on a node that has just been started: what has happened in it is not read for that. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { messageAggregate } from '../../../../application/chat/aggregates.js';
import type { EventLog } from '../../../../application/ports/index.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, somebody, startChatNode } from '../node.js';

describe('a long thread, on a node that knows nothing of it', function () {
  this.timeout(120_000);
  const REPLIES = 250;
  const database = `test_${randomUUID().slice(0, 8)}`;
  const nodes: ChatNode[] = [];
  let servers: Servers;
  let read = 0;

  const counting = (log: EventLog): Partial<EventLog> => ({
    async read(stream, ...asked) {
      const events = await log.read(stream, ...asked);
      if (stream.startsWith('chat.message-')) read += events.length;
      return events;
    },
  });

  async function start(options: Parameters<typeof startChatNode>[2] = {}) {
    const node = await startChatNode(servers, database, options);
    nodes.push(node);
    return node;
  }

  /** What a node that has just been started answers, and how many events it has read of messages for that. */
  async function asked<Answer>(ask: (node: ChatNode) => Promise<Answer>) {
    const node = await start({ between: counting, projects: false });
    read = 0;
    const answer = await ask(node);
    return {
      answer,
      read,
      folded: (id: string) => node.kernel.streams.cached(messageAggregate, messageStream(id)),
    };
  }

  before(async () => {
    servers = await startServers();
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    await servers?.stop();
  });

  it('is read by a few events of the log, however long it is, by those who see it', async () => {
    const first = await start();
    const ada = await first.join('ada');
    const bob = await first.join('bob');
    const asPrivate = { name: 'one', isPrivate: true };
    const { id: channel } = accepted(await first.channels.create(ada, asPrivate, context())).body.channel;
    const { message } = accepted(await first.messages.post(ada, channel, { content: 'hello' }, context())).body;
    const replies: string[] = [];
    for (let n = 0; n < REPLIES; n++) {
      const done = await first.replies.post(ada, message.id, { content: `number ${n}` }, context());
      replies.push(accepted(done).body.reply.id);
    }

    const page = await asked(async ({ replies, reading }) => {
      const { channelId } = accepted(await replies.parent(ada, message.id));
      const { json } = accepted(await reading.replies(somebody, channelId, message.id, { limit: 3 }));
      return JSON.parse(Buffer.from(json).toString()).replies as readonly { readonly id: string }[];
    });
    expect(page.answer.map(({ id }) => id)).to.deep.equal(replies.slice(-3));
    expect(page.read).to.equal(2);
    expect(page.folded(message.id)).to.equal(undefined);

    const others = await asked(({ replies }) => replies.parent(bob, message.id));
    expect(others.answer).to.include({ kind: 'not-found' });

    const past = await asked(async ({ history }) => {
      const { pieces } = accepted(await history(ada, message.id));
      const taking = pieces();
      const { value } = await taking.next();
      await taking.return(undefined);
      return value as string;
    });
    expect(past.answer).to.include('hello');
    expect(past.read).to.be.lessThan(REPLIES / 5);
    expect((await asked(({ history }) => history(bob, message.id))).answer).to.include({ kind: 'not-found' });

    const ofReply = await asked(({ replies: of }) => of.parent(ada, replies[0]!));
    expect(ofReply.answer).to.include({ rejected: 'chat/reply-to-reply' });

    const more = { content: 'one more' };
    const after = await asked(({ replies }) => replies.post(ada, message.id, more, context()));
    expect(accepted(after.answer).body.threadMeta.replyCount).to.equal(REPLIES + 1);

    accepted(await first.messages.remove(ada, message.id, context()));
    const gone = await asked(({ replies }) => replies.parent(ada, message.id));
    expect(gone.answer).to.include({ kind: 'not-found' });
    await first.kernel.log.retain(`chat.message-${message.id}`, { maxCount: 1 });
    const forgotten = await asked(({ replies }) => replies.parent(ada, message.id));
    expect(forgotten.answer).to.include({ kind: 'not-found' });
  });
});
