/** The process manager of threads completes what a crash interrupted, and erases the threads of deleted messages. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { messageAggregate, threadAggregate } from '../../../../application/chat/aggregates.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import type { EventLog } from '../../../../application/ports/index.js';
import { channelSubject } from '../../../../domain/chat/events/channels.js';
import { EMPTY_CONTENT } from '../../../../domain/chat/events/messages.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { threadOf, threadStream } from '../../../../domain/chat/thread.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('the process manager of threads', function () {
  this.timeout(120_000);
  const nodes: ChatNode[] = [];
  let servers: Servers;
  let database: string;
  let ada: Caller;
  let channelId: string;
  let message: string;
  /** Appends to streams that begin with this fail, as on a node that dies just before. */
  let dying: string | undefined;
  let afterAppend: (stream: string) => Promise<unknown>;
  let node: ChatNode;
  /** Runs the process manager. */
  let other: ChatNode;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    dying = undefined;
    afterAppend = async () => {};
    database = `test_${randomUUID().slice(0, 8)}`;
    const between = ({ append }: EventLog): Partial<EventLog> => ({
      async append(stream, ...rest) {
        if (dying && stream.startsWith(dying)) throw new Error('killed');
        const done = await append(stream, ...rest);
        await afterAppend(stream);
        return done;
      },
    });
    node = await start({ between });
    other = await start({ react: true });
    ada = await node.join('ada');
    channelId = accepted(await node.channels.create(ada, { name: 'one' }, context())).body.channel.id;
    message = accepted(await node.messages.post(ada, channelId, { content: 'hello' }, context())).body.message.id;
  });
  afterEach(async () => {
    for (const each of nodes.splice(0)) await each.stop();
  });

  async function start(options: Parameters<typeof startChatNode>[2]) {
    const started = await startChatNode(servers, database, options);
    nodes.push(started);
    return started;
  }
  const reply = async (content: string) =>
    accepted(await node.replies.post(ada, message, { content }, context())).body.reply.id;
  const killed = async (work: Promise<unknown>) => {
    const outcome = await work.then(
      () => 'done',
      ({ message }: Error) => message,
    );
    expect(outcome).to.match(/killed/);
  };
  const thread = async () =>
    threadOf((await node.kernel.aggregates.reload(threadAggregate, threadStream(message))).state);

  it('adds a posted reply to its thread', async () => {
    dying = 'chat.thread-';
    await killed(node.replies.post(ada, message, { content: 'a reply' }, context()));
    await eventually(async () => (await thread())?.replyCount === 1);
    const [replyId = ''] = Array.from(
      (await other.kernel.aggregates.reload(threadAggregate, threadStream(message))).state.replies,
      ([id]) => id,
    );
    accepted(await other.messages.edit(ada, replyId, { content: 'edited' }, context()));
  });

  it('may complete a post or deletion before the use case does', async () => {
    const isCompleted = (replyCount: number) => async (stream: string) =>
      stream.startsWith('chat.message-') && eventually(async () => ((await thread())?.replyCount ?? 0) === replyCount);
    afterAppend = isCompleted(1);
    const { body } = accepted(await node.replies.post(ada, message, { content: 'a reply' }, context()));
    expect(body.threadMeta.replyCount).to.equal(1);
    afterAppend = isCompleted(0);
    const removed = accepted(await node.replies.remove(ada, message, body.reply.id, context()));
    expect(removed.body.threadMeta).to.equal(null);
    // A read as of this position sees the summary of the answer.
    const { position } = await node.kernel.aggregates.reload(threadAggregate, threadStream(message));
    expect(removed.position).to.equal(position);
    afterAppend = async (stream) =>
      stream.startsWith('chat.thread-') &&
      eventually(async () => 'rejected' in (await other.visibility.message(ada, message)));
    expect(accepted(await node.messages.remove(ada, message, context())).body).to.deep.equal({ success: true });
  });

  it('completes a command under its id, so that a repetition gets the same answer', async () => {
    dying = 'chat.thread-';
    const how = context(randomUUID(), 'body');
    await killed(node.replies.post(ada, message, { content: 'a reply' }, how));
    await eventually(async () => (await thread())?.replyCount === 1);
    dying = undefined;
    const { body } = accepted(await node.replies.post(ada, message, { content: 'a reply' }, how));
    expect(body.threadMeta.replyCount).to.equal(1);
    await reply('another');
    expect(accepted(await node.replies.post(ada, message, { content: 'a reply' }, how)).body).to.deep.equal(body);
  });

  it('does not add a deleted reply again when its post is repeated', async () => {
    dying = 'chat.thread-';
    const how = context(randomUUID(), 'body');
    await killed(node.replies.post(ada, message, { content: 'a reply' }, how));
    await eventually(async () => (await thread())?.replyCount === 1);
    dying = undefined;
    const { state } = await other.kernel.aggregates.reload(threadAggregate, threadStream(message));
    const [replyId = ''] = Array.from(state.replies, ([id]) => id);
    accepted(await other.messages.remove(ada, replyId, context()));
    expect(await node.replies.post(ada, message, { content: 'a reply' }, how)).to.have.property('rejected');
    expect(await thread()).to.equal(null);
  });

  it('erases a reply that its thread does not take any more', async () => {
    const { id: channel } = accepted(await node.channels.create(ada, { name: 'two' }, context())).body.channel;
    const posted = accepted(await node.messages.post(ada, channel, { content: 'hello' }, context())).body.message.id;
    const replyId = `${posted}.${'r'.repeat(22)}`;
    await node.kernel.handle(
      threadAggregate,
      threadStream(posted),
      { type: 'CloseThread', messageId: posted, channelId: channel, by: ada.userId, now: 1 },
      context(),
    );
    const content = { author: ada.userId, body: { ...EMPTY_CONTENT, content: 'late' }, quotedMessageId: null, now: 1 };
    await node.kernel.handle(
      messageAggregate,
      messageStream(replyId),
      { type: 'PostMessage', messageId: replyId, channelId: channel, ...content },
      context(),
    );
    await eventually(async () => (await node.kernel.log.read(messageStream(replyId))) === 'deleted');
  });

  it('erases a reply whose channel was deleted before the thread took it', async () => {
    let written = '';
    afterAppend = async (stream) => {
      written = stream;
    };
    dying = 'chat.thread-';
    await killed(node.replies.post(ada, message, { content: 'late' }, context()));
    expect(await node.kernel.log.read(written)).to.have.length(1);
    await node.kernel.vault.destroy(channelSubject({ channelId }));
    await eventually(async () => (await node.kernel.log.read(written)) === 'deleted');
  });

  it('counts a deleted reply', async () => {
    const [first, second] = [await reply('one'), await reply('two')];
    dying = 'chat.thread-';
    await killed(node.messages.remove(ada, second, context()));
    await eventually(async () => (await thread())?.replyCount === 1);
    expect(await node.kernel.log.read(messageStream(first))).to.have.length(1);
  });

  it('deletes the message of a closed thread', async () => {
    const replyId = await reply('one');
    dying = 'chat.message-';
    await killed(node.messages.remove(ada, message, context()));
    dying = undefined;
    expect(await node.replies.post(ada, message, { content: 'two' }, context())).to.include({ kind: 'not-found' });
    await eventually(async () => 'rejected' in (await other.visibility.message(ada, message)));
    await eventually(async () => (await node.kernel.log.read(messageStream(replyId))) === 'deleted');
  });

  it('erases the replies of a deleted message, and all but the end of its thread', async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => reply(String(n))));
    const gone = await reply('deleted before');
    accepted(await node.messages.remove(ada, gone, context()));
    accepted(await node.messages.remove(ada, message, context()));
    for (const id of ids) await eventually(async () => (await node.kernel.log.read(messageStream(id))) === 'deleted');
    await eventually(async () => {
      const left = await node.kernel.log.read(threadStream(message));
      return typeof left !== 'string' && left.map(({ type }) => type).join() === 'ThreadClosed';
    });
  });
});
