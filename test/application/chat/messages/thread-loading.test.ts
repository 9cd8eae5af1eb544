/** A freshly started node reads a page of a long thread without loading the whole thread from the log. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { EventLog } from '../../../../application/ports/index.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, somebody, startChatNode } from '../node.js';

describe('a long thread on a freshly started node', function () {
  this.timeout(120_000);
  const REPLIES = 250;
  const database = `test_${randomUUID().slice(0, 8)}`;
  const nodes: ChatNode[] = [];
  let servers: Servers;
  let read = 0;

  const counting = (log: EventLog): Partial<EventLog> => ({
    async read(stream, ...args) {
      const events = await log.read(stream, ...args);
      if (/^chat\.(message|thread)-/.test(stream)) read += events.length;
      return events;
    },
  });

  async function start(options: Parameters<typeof startChatNode>[2] = {}) {
    const node = await startChatNode(servers, database, options);
    nodes.push(node);
    return node;
  }

  /** The answer of a freshly started node, and how many events of messages and threads it read from the log for it. */
  async function onFreshNode<Answer>(ask: (node: ChatNode) => Promise<Answer>) {
    const node = await start({ between: counting, projects: false });
    read = 0;
    const answer = await ask(node);
    return { answer, read };
  }

  before(async () => {
    servers = await startServers();
  });
  after(async () => {
    for (const node of nodes) await node.stop();
    await servers?.stop();
  });

  it('is read with few events of the log, and only by users who can see it', async () => {
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

    const page = await onFreshNode(async ({ replies, reading }) => {
      const { channelId } = accepted(await replies.parent(ada, message.id));
      const { json } = accepted(await reading.replies(somebody, channelId, message.id, { limit: 3 }));
      return JSON.parse(Buffer.from(json).toString()).replies as readonly { readonly id: string }[];
    });
    expect(page.answer.map(({ id }) => id)).to.deep.equal(replies.slice(-3));
    expect(page.read).to.equal(1);

    const others = await onFreshNode(({ replies }) => replies.parent(bob, message.id));
    expect(others.answer).to.include({ kind: 'not-found' });

    const past = await onFreshNode(async ({ history }) => {
      const { pieces } = accepted(await history(ada, message.id));
      const taking = pieces();
      const { value } = await taking.next();
      await taking.return(undefined);
      return value as string;
    });
    expect(past.answer).to.include('hello');
    expect(past.read).to.be.lessThan(5);
    expect((await onFreshNode(({ history }) => history(bob, message.id))).answer).to.include({ kind: 'not-found' });

    const ofReply = await onFreshNode(({ replies: of }) => of.parent(ada, replies[0]!));
    expect(ofReply.answer).to.include({ rejected: 'chat/reply-to-reply' });

    const more = { content: 'one more' };
    const after = await onFreshNode(({ replies }) => replies.post(ada, message.id, more, context()));
    expect(accepted(after.answer).body.threadMeta.replyCount).to.equal(REPLIES + 1);

    accepted(await first.messages.remove(ada, message.id, context()));
    const afterRemoval = await onFreshNode(({ replies }) => replies.parent(ada, message.id));
    expect(afterRemoval.answer).to.include({ kind: 'not-found' });
    await first.kernel.log.retain(`chat.message-${message.id}`, { maxCount: 1 });
    const forgotten = await onFreshNode(({ replies }) => replies.parent(ada, message.id));
    expect(forgotten.answer).to.include({ kind: 'not-found' });
  });
});
