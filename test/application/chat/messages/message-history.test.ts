/** The history of a message with hundreds of edits is streamed from the log with bounded memory. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createHistory } from '../../../../application/chat/messages/message-history.js';
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
      ...node.kernel.log,
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

  it('of a message with a long thread, and of a reply, reads their own events only', async () => {
    const ada = await node.join('bob');
    const { id: channel } = accepted(await node.channels.create(ada, { name: 'two' }, context())).body.channel;
    const { message } = accepted(await node.messages.post(ada, channel, { content: 'first' }, context())).body;
    for (let left = 100; left > 0; left--)
      accepted(await node.replies.post(ada, message.id, { content: 'one of many' }, context()));
    const { reply } = accepted(await node.replies.post(ada, message.id, { content: 'the last' }, context())).body;
    accepted(await node.replies.edit(ada, message.id, reply.id, { content: 'edited' }, context()));
    for (const [id, contents] of [
      [message.id, ['first']],
      [reply.id, ['the last', 'edited']],
    ] as const) {
      const { history, read } = counted();
      let text = '';
      for await (const piece of accepted(await history(ada, id)).pieces()) text += piece;
      const versions = JSON.parse(text).history.map((each: { content: string }) => each.content);
      expect(versions).to.deep.equal(contents);
      expect(read.events).to.be.lessThan(5);
    }
  });
});
