/** Concurrent page reads: a few run at a time, and large pages one at a time. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { RenderedPage } from '../../../../application/chat/messages/read-messages.js';
import type { Rejection } from '../../../../domain/shared/decider.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, readerNamed, somebody, startChatNode } from '../node.js';

describe('concurrent page reads', function () {
  this.timeout(60_000);
  const MANY = 60;
  let servers: Servers;
  let node: ChatNode;
  const visibility: string[] = [];
  const messageIds: string[] = [];
  let parent = '';

  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    const ada = await node.join('ada');
    for (const name of ['one', 'two'])
      visibility.push(accepted(await node.channels.create(ada, { name }, context())).body.channel.id);
    for (const content of ['first', 'second', 'third']) {
      const { message } = accepted(await node.messages.post(ada, visibility[0]!, { content }, context())).body;
      messageIds.push(message.id);
      parent = message.id;
      accepted(await node.messages.pin('PinMessage', ada, message.id, context()));
    }
    accepted(await node.replies.post(ada, parent, { content: 'reply' }, context()));
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  const itemsOf = (page: RenderedPage | Rejection): readonly { readonly id: string }[] =>
    Object.values(JSON.parse(Buffer.from(accepted(page).json).toString()))[0] as never;

  const kinds: readonly [string, number, (limit: number) => Promise<RenderedPage | Rejection>, number][] = [
    [
      'large pages of the newest messages',
      500,
      (limit) => node.reading.messages(somebody, visibility[0]!, { limit }),
      3,
    ],
    [
      'large pages of older messages',
      500,
      (limit) => node.reading.messages(somebody, visibility[0]!, { limit, before: messageIds[1]! }),
      1,
    ],
    ['large pages of replies', 500, (limit) => node.reading.replies(somebody, visibility[0]!, parent, { limit }), 1],
    [
      'small pages',
      50,
      (limit) => node.reading.messages(somebody, visibility[0]!, { limit, before: messageIds[2]! }),
      2,
    ],
    ['pins', 100, () => node.reading.pins(somebody, visibility[0]!), 3],
  ];

  for (const [name, limit, read, found] of kinds)
    it(`run ${limit > 100 ? 'one at a time' : 'eight at a time'}: ${name}`, async () => {
      const most = await node.mostFinds(async () => {
        const pages = await Promise.all(Array.from({ length: MANY }, () => read(limit)));
        for (const page of pages) expect(itemsOf(page)).to.have.length(found);
      });
      expect(most).to.equal(limit > 100 ? 1 : 8);
    });

  it('are served round-robin per user, even if one user exceeds the queue', async () => {
    for (const count of [MANY, 400]) {
      const order: string[] = [];
      const ask = async (userId: string, limit: number) => {
        itemsOf(await node.reading.messages(readerNamed(userId), visibility[0]!, { limit }));
        order.push(userId);
      };
      const greedy = Array.from({ length: count }, (_, n) => ask('greedy', 102 + n));
      await Promise.all([ask('other', 101), Promise.allSettled(greedy)]);
      expect(order.indexOf('other')).to.be.lessThan(4);
    }
  });

  it('are coalesced if equal, and include messages posted before the read', async () => {
    const ada = await node.join('eve');
    const before = node.finds();
    const read = (seen?: bigint) => node.reading.messages(somebody, visibility[1]!, { limit: 500 }, seen);
    const first = Array.from({ length: MANY }, () => read());
    const posted = accepted(await node.messages.post(ada, visibility[1]!, { content: 'since' }, context()));
    const afterPost = await read(posted.position);
    expect(itemsOf(afterPost).map(({ id }) => id)).to.deep.equal([posted.body.message.id]);
    expect(accepted(afterPost).position >= posted.position).to.equal(true);
    for (const page of await Promise.all(first)) expect(itemsOf(page).length).to.be.at.most(1);
    expect(node.finds() - before).to.be.lessThan(6);
  });
});
