/** Files whose bytes are missing, and images whose message was deleted before the process manager has deleted them. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGridFsStore } from '../../../../adapters/mongo/gridfs-blobs.js';
import { fileAggregate } from '../../../../application/chat/aggregates.js';
import { createMissingBlobCheck } from '../../../../application/chat/files/check-missing-blobs.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { fileIdOf, fileSubject } from '../../../../domain/chat/events/files.js';
import { UNATTACHED_MS } from '../../../../domain/chat/file.js';
import { SAMPLES } from '../../../support/chat-fixtures.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('a file of the chat', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  let ada: Caller;
  let bob: Caller;
  let channelId: string;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
    [ada, bob] = [await node.join('ada'), await node.join('bob')];
    channelId = accepted(await node.channels.create(ada, { name: 'open' }, context())).body.channel.id;
  });
  after(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await node?.stop();
    await servers?.stop();
  });

  async function upload(filename: string, bytes: Buffer | undefined, inChannel: string | null) {
    const receiving = await node.sealedFiles.receive();
    await receiving.write(bytes!);
    const content = await receiving.end();
    const uploaded = await node.files.upload(ada, { filename, channelId: inChannel, content }, context());
    return { name: accepted(uploaded).body.filename, stored: content.stored };
  }

  it('is counted as missing if its bytes are not in the store, unless it was deleted', async () => {
    const { name, stored } = await upload('plan.pdf', SAMPLES.pdf, null);
    const fileId = fileIdOf(name)!;
    const fileStore = createGridFsStore(node.kernel.mongo.models, 'chat_bytes', Date.now);
    const rows = { find: async () => [{ file: fileId }, { file: fileId }] as never };
    const countMissing = createMissingBlobCheck({ ...node.kernel, rows, fileStore });
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 0 });
    await fileStore.remove(stored);
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 1 });
    const review = { type: 'ReviewFile' as const, fileId, missing: [], now: Date.now() + UNATTACHED_MS };
    await node.kernel.handle(fileAggregate, fileSubject({ fileId }), review, context());
    // The log decides where the read model is behind.
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 0 });
  });

  it('is shown to nobody but its uploader once its message, or the message of its thread, is deleted', async () => {
    const { name } = await upload('view.png', SAMPLES.png, channelId);
    const isShown = async (who: Caller) => !('rejected' in (await node.files.image(who, channelId, name)));
    expect(await isShown(bob), 'before it is posted').to.equal(true);
    const { post, remove } = node.messages;
    const { id } = accepted(await post(ada, channelId, { content: 'x' }, context())).body.message;
    accepted(await node.replies.post(ada, id, { images: [name] }, context()));
    expect(await isShown(bob), 'in a reply').to.equal(true);
    accepted(await remove(ada, id, context()));
    expect(await isShown(bob), 'after the deletion').to.equal(false);
    expect(await isShown(ada), 'to its uploader').to.equal(true);
  });
});
