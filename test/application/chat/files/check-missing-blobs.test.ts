/** Files whose bytes are missing from the store. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGridFsStore } from '../../../../adapters/mongo/gridfs-blobs.js';
import { fileAggregate } from '../../../../application/chat/aggregates.js';
import { createMissingBlobCheck } from '../../../../application/chat/files/check-missing-blobs.js';
import { fileIdOf, fileSubject } from '../../../../domain/chat/events/files.js';
import { UNATTACHED_MS } from '../../../../domain/chat/file.js';
import { SAMPLES } from '../../../support/chat-fixtures.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

describe('the check for missing files', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: ChatNode;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await node?.stop();
    await servers?.stop();
  });

  it('counts files whose bytes are not in the store, unless they were deleted', async () => {
    const receiving = await node.sealedFiles.receive();
    await receiving.write(SAMPLES.pdf!);
    const content = await receiving.end();
    const file = { filename: 'plan.pdf', channelId: null, content };
    const { filename } = accepted(await node.files.upload(await node.join('ada'), file, context())).body;
    const fileId = fileIdOf(filename)!;
    const fileStore = createGridFsStore(node.kernel.mongo.models, 'chat_bytes', Date.now);
    const rows = { find: async () => [{ file: fileId }, { file: fileId }] as never };
    const countMissing = createMissingBlobCheck({ ...node.kernel, rows, fileStore });
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 0 });
    await fileStore.remove(content.stored);
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 1 });
    const review = { type: 'ReviewFile' as const, fileId, missing: [], now: Date.now() + UNATTACHED_MS };
    await node.kernel.handle(fileAggregate, fileSubject({ fileId }), review, context());
    // The log decides where the read model is behind.
    expect(await countMissing()).to.deep.equal({ looked: 1, lost: 0 });
  });
});
