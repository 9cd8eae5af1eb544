/** Reading the versions of a message that was edited very often: a few of them are in hand, and no more than are taken. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createHistory } from '../../../application/chat/history.js';
import { type Servers, startServers } from '../../support/engines.js';
import { context } from '../../support/toys.js';
import { accepted, type ChatNode, startChatNode } from './node.js';

describe('the versions of a message', function () {
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

  it('are read from the log as they are taken, up to what there was when they were asked for', async () => {
    const EDITS = 300;
    const ada = await node.join('ada');
    const { id: channel } = accepted(await node.channels.create(ada, { name: 'one' }, context())).body
      .channel;
    const { message } = accepted(await node.messages.post(ada, channel, { content: '0' }, context())).body;
    const edit = async (content: string) =>
      accepted(await node.messages.edit(ada, message.id, { content }, context()));
    for (let n = 1; n <= EDITS; n++) await edit(`${n} ${'x'.repeat(500)}`);
    let read = 0;
    const log = {
      read: async (...asked: Parameters<typeof node.kernel.log.read>) => {
        const events = await node.kernel.log.read(...asked);
        read += events.length;
        return events;
      },
    };
    const history = createHistory({ ...node.kernel, log, admission: node.admission, places: node.places });
    const { pieces } = accepted(await history(ada, message.id));
    const taking = pieces();
    const first = await taking.next();
    expect(first.value).to.have.length.within(1, 40_000);
    expect(read).to.be.lessThan(EDITS / 2);
    await edit('after it was asked for');
    const rest: string[] = [];
    for await (const piece of taking) rest.push(piece);
    const { history: versions } = JSON.parse(first.value + rest.join(''));
    expect(versions).to.have.length(EDITS + 1);
    expect(rest.every(({ length }) => length <= 40_000)).to.equal(true);
  });
});
