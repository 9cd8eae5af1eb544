/** Member lists with many unknown users cost one lookup in the log. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type Channels, createChannels } from '../../../../application/chat/channels/channels.js';
import { createAuthentication } from '../../../../application/chat/sign-in/authenticate.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('the members given for a channel', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let channels: Channels;
  let reads = 0;

  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    const { aggregates, clock } = node.kernel;
    const reload: typeof aggregates.reload = (...args) => {
      reads++;
      return aggregates.reload(...args);
    };
    const counted = { ...aggregates, reload };
    const admission = createAuthentication({
      aggregates: counted,
      tokens: {} as never,
      clock,
      feedPosition: () => 0n,
    });
    channels = createChannels({ ...node.kernel, admission });
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  it('are looked up together when a channel is created or updated', async () => {
    const ada = await node.join('ada');
    const { id } = accepted(await channels.create(ada, { name: 'one' }, context())).body.channel;
    const members = Array.from({ length: 1000 }, (_, n) => `nobody${n}`);
    for (const refused of [
      () => channels.create(ada, { name: 'two', members }, context()),
      () => channels.update(ada, id, { members }, context()),
    ]) {
      reads = 0;
      const outcome = await refused();
      expect(isRejection(outcome) && outcome.rejected).to.equal('chat/unknown-member');
      expect(reads).to.be.at.most(5);
    }
  });
});
