/** The history of a message with hundreds of edits is streamed from the log with bounded memory. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { messageAggregate } from '../../../../application/chat/aggregates.js';
import { createHistory } from '../../../../application/chat/messages/message-history.js';
import { messageStream } from '../../../../domain/chat/message.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('the history of a message', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  /** A history that counts its reads of the log. */
  function counted() {
    const read = { events: 0, times: 0 };
    const log = {
      read: async (...args: Parameters<typeof node.kernel.log.read>) => {
        const events = await node.kernel.log.read(...args);
        read.times++;
        read.events += events.length;
        return events;
      },
    };
    return { history: createHistory({ ...node, ...node.kernel, log }), read };
  }

  it('is read from the log as it is consumed, up to the version current at the request', async () => {
    const EDITS = 300;
    const ada = await node.join('ada');
    const { id: channel } = accepted(await node.channels.create(ada, { name: 'one' }, context())).body.channel;
    const { message } = accepted(await node.messages.post(ada, channel, { content: '0' }, context())).body;
    const edit = async (content: string) => accepted(await node.messages.edit(ada, message.id, { content }, context()));
    for (let n = 1; n <= EDITS; n++) await edit(`${n} ${'x'.repeat(500)}`);
    const { history, read } = counted();
    const { pieces } = accepted(await history(ada, message.id));
    const taking = pieces();
    const first = await taking.next();
    expect(first.value).to.have.length.within(1, 40_000);
    expect(read.events).to.be.lessThan(EDITS / 2);
    await edit('after it was asked for');
    const rest: string[] = [];
    for await (const piece of taking) rest.push(piece);
    const { history: versions } = JSON.parse(first.value + rest.join(''));
    expect(versions).to.have.length(EDITS + 1);
    expect(rest.every(({ length }) => length <= 40_000)).to.equal(true);
  });

  it('of a long thread and of its last reply starts early and reads a bounded part of the log', async () => {
    const REPLIES = 600;
    const ada = await node.join('bob');
    const { id: channel } = accepted(await node.channels.create(ada, { name: 'two' }, context())).body.channel;
    const { message } = accepted(await node.messages.post(ada, channel, { content: 'first' }, context())).body;
    const reply = async (content: string) =>
      accepted(await node.replies.post(ada, message.id, { content }, context())).body.reply;
    const firstReply = await reply('the first');
    for (let left = REPLIES; left > 1; left--) await reply('one of many');
    const last = await reply('the last');
    for (const { id } of [firstReply, last])
      accepted(await node.replies.edit(ada, message.id, id, { content: 'edited' }, context()));
    const stream = messageStream(message.id);
    for (const [id, contents, most] of [
      [message.id, ['first'], 2 * REPLIES],
      [firstReply.id, ['the first', 'edited'], 2 * REPLIES],
      [last.id, ['the last', 'edited'], REPLIES / 2],
    ] as const) {
      node.kernel.aggregates.forget(stream);
      const { history, read } = counted();
      const taking = accepted(await history(ada, id)).pieces();
      const first = await taking.next();
      expect(read.events, 'before the first piece').to.be.lessThan(REPLIES / 2);
      let text = first.value;
      for await (const piece of taking) text += piece;
      const versions = JSON.parse(text!).history.map((each: { content: string }) => each.content);
      expect(versions).to.deep.equal(contents);
      expect(read.events, 'in all').to.be.lessThan(most);
      expect(read.times).to.be.lessThan(20);
      expect(node.kernel.aggregates.cached(messageAggregate, stream)).to.equal(undefined);
    }
  });
});
