/** What becomes of files that hang on nothing, or were left behind, and of the names of whoever is erased. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGridFsStore } from '../../../../adapters/mongo/gridfs-blobs.js';
import { fileAggregate } from '../../../../application/chat/aggregates.js';
import { createMissingBlobCheck } from '../../../../application/chat/files/check-missing-blobs.js';
import { createFileSweep } from '../../../../application/chat/files/collect-orphans.js';
import { createFiles } from '../../../../application/chat/files/files.js';
import { createEraseUser } from '../../../../application/chat/people/erase-user.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { type FileStore, NotStored } from '../../../../application/ports/blob-store.js';
import { type ConfirmedClock, CorruptEventError } from '../../../../application/ports/index.js';
import { fileSubject } from '../../../../domain/chat/events/files.js';
import { userSubject } from '../../../../domain/chat/events/roster.js';
import { fileIdOf } from '../../../../domain/chat/file-names.js';
import { SAMPLES } from '../../../support/chat-fixtures.js';
import { context } from '../../../support/toy-service.js';
import { accepted, type ChatNode, startChatNode } from '../node.js';

const HOUR = 3_600_000;

describe('files of the chat', function () {
  this.timeout(120_000);
  const database = `test_${randomUUID().slice(0, 8)}`;
  let servers: Servers;
  let node: ChatNode;
  let ada: Caller;
  let channelId: string;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, database, { react: true });
    ada = await node.join('ada');
    channelId = accepted(await node.channels.create(ada, { name: 'open' }, context())).body.channel.id;
  });
  after(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await node?.stop();
    await servers?.stop();
  });

  async function received(bytes = SAMPLES.pdf!) {
    const receiving = await node.sealedFiles.receive();
    await receiving.write(bytes);
    return receiving.end();
  }
  async function upload(by = ada) {
    const content = await received();
    const what = { filename: 'plan.pdf', channelId: null, content };
    const { filename } = accepted(await node.files.upload(by, what, context())).body;
    return { filename, stored: content.stored, fileId: fileIdOf(filename)! };
  }
  /** An image of the channel with a thumbnail, by an upload that may crash. */
  async function uploadImage(files = node.files, how = context()) {
    const [content, thumbnail] = [await received(SAMPLES.png), await received(SAMPLES.webp)];
    const done = files.upload(ada, { filename: 'x.png', channelId, content, thumbnail }, how);
    const filename = await done.then(
      (outcome) => accepted(outcome).body.filename,
      () => undefined,
    );
    return { filename, stored: content.stored, thumbnail: { stored: thumbnail.stored } };
  }
  const post = async (filename: string, how = context()) => {
    const attachments = [{ filename, originalName: '', contentType: '', size: 0 }];
    return accepted(await node.messages.post(ada, channelId, { attachments }, how)).body.message.id;
  };

  const storeLater = (hours: number): FileStore =>
    createGridFsStore(node.kernel.mongo.models, 'chat_bytes', () => Date.now() + hours * HOUR);
  /** A round, so many hours from now. */
  async function sweep(hours: number, fileStore = storeLater(0), streams = node.kernel.streams) {
    const now = () => Date.now() + hours * HOUR;
    const clock: ConfirmedClock = { now, confirmedNow: async () => now(), inSync: () => true };
    const position = await node.kernel.head();
    expect(await node.kernel.projectionProgress.wait('chat.files', position)).to.equal(true);
    const run = createFileSweep({ ...node.kernel, streams, clock, context: () => context(), fileStore });
    await run(new AbortController().signal);
  }
  const isReadable = async ({ filename }: { filename: string }) => {
    const found = await node.files.file(ada, filename);
    return !('rejected' in found);
  };
  const storedBytes = async ({ stored }: { stored: string }) => {
    try {
      for await (const _ of storeLater(0).read(stored, 0, 1));
      return true;
    } catch (error) {
      expect(error).to.be.instanceOf(NotStored);
      return false;
    }
  };
  type Image = Awaited<ReturnType<typeof uploadImage>>;
  const imageBytes = (image: Image) => Promise.all([image, image.thumbnail].map(storedBytes));
  /** What no upload answers for, as a day later shows it. */
  async function unsettled() {
    const left: string[] = [];
    for await (const { stored } of storeLater(25).unsettled()) left.push(stored);
    return left;
  }
  const eventsOf = async ({ fileId }: { fileId: string }) => {
    const events = await node.kernel.log.read(fileSubject({ fileId }));
    return typeof events === 'string' ? events : events.map(({ type }) => type).join();
  };

  it('that hang on nothing go after a day, bytes, key and stream; others stay', async () => {
    const [alone, held] = [await upload(), await upload()];
    await post(held.filename);
    await sweep(23);
    expect(await isReadable(alone)).to.equal(true);
    await sweep(25);
    expect(await isReadable(alone)).to.equal(false);
    expect(await isReadable(held)).to.equal(true);
    await eventually(async () => !(await storedBytes(alone)));
    await eventually(async () => (await eventsOf(alone)) === 'deleted');
    expect(await storedBytes(held)).to.equal(true);
    expect(await eventsOf(held)).to.equal('FileUploaded,FileAttached,FileKept');
    await sweep(50);
    expect(await eventsOf(held)).to.equal('FileUploaded,FileAttached,FileKept');
  });

  it('that hang on nothing go after a day, though the log of one before them is damaged', async () => {
    const [damaged, alone] = [await upload(), await upload()];
    const { reload } = node.kernel.streams;
    const streams: typeof node.kernel.streams = {
      ...node.kernel.streams,
      reload: (kind, stream, ...rest) =>
        stream === fileSubject(damaged)
          ? Promise.reject(new CorruptEventError('the log is damaged'))
          : reload(kind, stream, ...rest),
    };
    expect(await sweep(25, storeLater(0), streams).catch((error) => error)).to.be.instanceOf(CorruptEventError);
    expect(await isReadable(alone)).to.equal(false);
    expect(await isReadable(damaged)).to.equal(true);
  });

  it('are looked for in no message of a channel that whoever asks does not see', async () => {
    const file = await upload();
    const made = await node.channels.create(ada, { name: 'closed', isPrivate: true }, context());
    const attachments = [{ filename: file.filename, originalName: '', contentType: '', size: 0 }];
    accepted(await node.messages.post(ada, accepted(made).body.channel.id, { attachments }, context()));
    let looked = 0;
    const visibility: typeof node.visibility = {
      ...node.visibility,
      message: (...asked) => {
        looked++;
        return node.visibility.message(...asked);
      },
    };
    const files = createFiles({ ...node.kernel, ...node, fileStore: storeLater(0), visibility });
    const [bob, eve] = [await node.join('bob'), await node.join('eve', true)];
    expect('rejected' in (await files.file(bob, file.filename))).to.equal(true);
    expect(looked).to.equal(0);
    expect('rejected' in (await files.file(eve, file.filename))).to.equal(false);
    expect(looked).to.equal(1);
  });

  it('go with their thumbnails: after a day on nothing, and with the message that held them', async () => {
    const [alone, held] = [await uploadImage(), await uploadImage()];
    const images = { images: [held.filename!] };
    const { message } = accepted(await node.messages.post(ada, channelId, images, context())).body;
    await sweep(25);
    await eventually(async () => !(await imageBytes(alone)).includes(true));
    expect(await imageBytes(held)).to.deep.equal([true, true]);
    accepted(await node.messages.remove(ada, message.id, context()));
    await eventually(async () => !(await imageBytes(held)).includes(true));
  });

  it('that were hung on what was never said go after a day', async () => {
    const file = await upload();
    const holding = { holderId: 'm'.repeat(22), messageId: 'm'.repeat(22), channelId };
    const attachment = { filename: file.filename, originalName: '', contentType: '', size: 0 };
    expect(await node.uploads.attach(ada.userId, holding, { attachments: [attachment] }, context())).to.equal(
      undefined,
    );
    await sweep(25);
    expect(await isReadable(file)).to.equal(false);
  });

  it('that were edited away can be taken back for a day, and go with the message for ever', async () => {
    const file = await upload();
    const id = await post(file.filename);
    const edit = (wording: object) => node.messages.edit(ada, id, { content: 'x', ...wording }, context());
    accepted(await edit({ attachments: [] }));
    await eventually(async () => (await eventsOf(file)) === 'FileUploaded,FileAttached,FileDetached');
    await sweep(23);
    const attachment = { filename: file.filename, originalName: '', contentType: '', size: 0 };
    accepted(await edit({ attachments: [attachment] }));
    await sweep(25);
    expect(await isReadable(file)).to.equal(true);
    accepted(await node.messages.remove(ada, id, context()));
    await eventually(async () => (await eventsOf(file)) === 'deleted');
    expect(await storedBytes(file)).to.equal(false);
  });

  it('of a repeated upload are those of the first, thumbnails too, and nothing is left of the second', async () => {
    const how = context(randomUUID(), 'body');
    const [first, second] = [await uploadImage(node.files, how), await uploadImage(node.files, how)];
    expect(second.filename).to.equal(first.filename);
    expect([await imageBytes(first), await imageBytes(second)]).to.deep.equal([
      [true, true],
      [false, false],
    ]);
    expect(await unsettled()).to.deep.equal([]);
  });

  it('that uploads left behind go where the log knows nothing of them, and stay where it does', async () => {
    const store = storeLater(0);
    const content = await received();
    const what = { filename: 'plan.pdf', channelId: null, content };
    // As a crash leaves it that comes between the append and what follows it.
    const crashing = { ...store, settle: () => Promise.reject(new Error('crashed')) };
    const files = createFiles({ ...node.kernel, ...node, fileStore: crashing });
    const how = context(randomUUID(), 'body');
    const crashed = await files.upload(ada, what, how).catch((error: Error) => error.message);
    expect(crashed).to.equal('crashed');
    const image = await uploadImage(files);
    const half = await received();
    const [unknown, itsThumbnail] = [await received(), await received()];
    for (const part of [unknown, itsThumbnail]) await part.keep('nobody'.padEnd(22, '0'));
    await sweep(0, storeLater(25));
    for (const known of [content, image, image.thumbnail]) expect(await storedBytes(known)).to.equal(true);
    for (const gone of [unknown, itsThumbnail, half]) expect(await storedBytes(gone)).to.equal(false);
    expect(await unsettled()).to.deep.equal([]);
    const again = accepted(await node.files.upload(ada, { ...what, content: await received() }, how)).body;
    expect(await isReadable(again)).to.equal(true);
  });

  it('whose bytes are not in the store are counted, and none that was discarded', async () => {
    const file = await upload();
    const stored = storeLater(0);
    const rows = { find: async () => [file, file].map(({ fileId }) => ({ file: fileId })) as never };
    const ports = { ...node.kernel, rows, fileStore: stored };
    expect(await createMissingBlobCheck(ports)()).to.deep.equal({ looked: 1, lost: 0 });
    await stored.remove(file.stored);
    expect(await createMissingBlobCheck(ports)()).to.deep.equal({ looked: 1, lost: 1 });
    await sweep(25);
    // Of rows that are behind the log it has the last word.
    expect(await createMissingBlobCheck(ports)()).to.deep.equal({ looked: 1, lost: 0 });
  });

  it('have names that go with who uploaded them, also on nodes that remember the files', async () => {
    const other = await startChatNode(servers, database, { projects: false });
    const feeding = other.feed();
    try {
      const cyd = await node.join('cyd');
      const file = await upload(cyd);
      const attachments = [{ filename: file.filename, originalName: '', contentType: '', size: 0 }];
      accepted(await node.messages.post(cyd, channelId, { attachments }, context()));
      /** What the file is called by each node: to download it, and to hang it on another message. */
      const names = () =>
        Promise.all(
          [node, other].map(async ({ files, uploads }) => {
            const found = await files.file(ada, file.filename);
            if ('rejected' in found) throw new Error(found.rejected);
            const { originalName } = accepted(await files.download(found));
            const hung = accepted(await uploads.check(ada, channelId, { attachments, images: [] }));
            return [originalName, hung.attachments[0]?.originalName];
          }),
        );
      const called = (name: string) => [Array(2).fill(name), Array(2).fill(name)];
      expect(await names()).to.deep.equal(called('plan.pdf'));
      accepted(await createEraseUser(node.kernel)(cyd.userId, context()));
      await eventually(async () => isDeepStrictEqual(await names(), called(file.filename)));
      // Neither had to read it again for that.
      for (const { kernel } of [node, other])
        expect(kernel.streams.cached(fileAggregate, fileSubject(file))?.state.sealedName).not.to.equal('');
    } finally {
      await other.stop();
      await feeding.catch(() => {});
    }
  });

  it('have names that go with the key of who uploaded them, and with the file', async () => {
    const bob = await node.join('bob');
    const file = await upload(bob);
    const nameOf = async () => {
      const found = await node.files.file(bob, file.filename);
      if ('rejected' in found) throw new Error(found.rejected);
      return node.files.originalNameOf(found);
    };
    expect(await nameOf()).to.equal('plan.pdf');
    await node.kernel.vault.destroy(userSubject(bob));
    node.kernel.streams.forget(fileSubject(file));
    expect(await nameOf()).to.equal(file.filename);
    const other = await upload(ada);
    const found = await node.files.file(ada, other.filename);
    if ('rejected' in found) throw new Error(found.rejected);
    await node.kernel.vault.destroy(fileSubject(other));
    expect(await node.files.originalNameOf(found)).to.equal(undefined);
    expect(await node.files.download(found)).to.include({ kind: 'not-found' });
  });
});
