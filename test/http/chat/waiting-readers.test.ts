/** Who waits for a page, and does not see its place any more when it is made. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { pageFor } from '../../../adapters/http/chat/in-place.js';
import type { Caller } from '../../../application/chat/admission.js';
import { unauthorized } from '../../../application/chat/admission.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { accepted, type ChatNode, startChatNode } from '../../application/chat/node.js';
import { type Servers, startServers } from '../../support/engines.js';
import { context } from '../../support/toys.js';

describe('a page that is waited for', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let ada: Caller;
  let bob: Caller;
  let channel: string;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    [ada, bob] = await Promise.all([node.join('ada'), node.join('bob')]);
    const wish = { name: 'ours', isPrivate: true, members: [bob.userId] };
    channel = accepted(await node.channels.create(ada, wish, context())).body.channel.id;
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  /** What bob is answered, when this is done while he waits, and who he is by then. */
  async function told(meanwhile: () => Promise<unknown>, then: Caller | Rejection = bob) {
    const reader = { caller: bob, request: { bearer: 'his' }, doors: { user: async () => then } };
    return pageFor(
      reader as never,
      (who) => node.places.channel(who, channel),
      async ({ id }) => {
        await meanwhile();
        accepted(await node.messages.post(ada, id, { content: 'about bob' }, context()));
        return node.reading.messages({ userId: bob.userId }, id, { limit: 500 });
      },
    );
  }

  it('is given to who sees its channel still', async () => {
    expect(await told(async () => {})).to.include({ status: 200 });
  });

  it('is none for whose session has ended', async () => {
    expect(await told(async () => {}, unauthorized)).to.equal(unauthorized);
  });

  it('is none for who was taken out: it shows what was said since', async () => {
    const out = () => node.channels.update(ada, channel, { members: [] }, context());
    expect(await told(out)).to.include({ kind: 'not-found' });
  });
});
