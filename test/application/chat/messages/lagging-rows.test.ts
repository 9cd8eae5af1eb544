/** Edits while the read model is behind are decided on the log. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('a reply that the read model does not have yet', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`, { projects: false });
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });

  it('is edited, and keeps the fields that the edit omits', async () => {
    const ada = await node.join('ada');
    const { channels, messages, replies } = node;
    const { id } = accepted(await channels.create(ada, { name: 'one' }, context())).body.channel;
    const parent = accepted(await messages.post(ada, id, { content: 'hello' }, context())).body.message.id;
    const post = async (content: string) =>
      accepted(await replies.post(ada, parent, { content, quotedMessageId: parent }, context())).body.reply;
    const first = await post('first');
    await post('second');
    const edit = async (changes: object) =>
      accepted(await replies.edit(ada, parent, first.id, changes, context())).body.message;
    expect(await edit({ content: 'changed' })).to.include({ content: 'changed', quotedMessageId: parent });
    expect(await edit({ quotedMessageId: null })).to.include({ content: 'changed', quotedMessageId: null });
  });
});
