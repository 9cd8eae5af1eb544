/** The life cycle of uploaded files: orphans, edits, thumbnails, interrupted uploads and erasure of uploaders. */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGridFsStore } from '../../../../adapters/mongo/gridfs-blobs.js';
import { fileAggregate } from '../../../../application/chat/aggregates.js';
import { createFileLifecycle } from '../../../../application/chat/files/file-lifecycle.js';
import { createFiles } from '../../../../application/chat/files/files.js';
import { createEraseUser } from '../../../../application/chat/people/erase-user.js';
import type { Caller } from '../../../../application/chat/sign-in/authenticate.js';
import { type FileStore, NotStored } from '../../../../application/ports/blob-store.js';
import { type ConfirmedClock, CorruptEventError } from '../../../../application/ports/index.js';
import { fileIdOf, fileSubject } from '../../../../domain/chat/events/files.js';
import { userSubject } from '../../../../domain/chat/events/roster.js';
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
  /** Uploads an image with a thumbnail to the channel; returns no filename if the upload crashes. */
  async function uploadImage(files = node.files, how = context()) {
    const [content, thumbnail] = [await received(SAMPLES.png), await received(SAMPLES.webp)];
    const done = files.upload(ada, { filename: 'x.png', channelId, content, thumbnail }, how);
    const filename = await done.then(
      (outcome) => accepted(outcome).body.filename,
      () => undefined,
    );
    return { filename, stored: content.stored, thumbnail: { stored: thumbnail.stored } };
  }
  const attaching = ({ filename }: { filename: string }) => ({
    attachments: [{ filename, originalName: '', contentType: '', size: 0 }],
  });
  const post = async (filename: string, how = context()) =>
    accepted(await node.messages.post(ada, channelId, attaching({ filename }), how)).body.message.id;

  const storeLater = (hours: number): FileStore =>
    createGridFsStore(node.kernel.mongo.models, 'chat_bytes', () => Date.now() + hours * HOUR);
  /** Runs the orphan sweep as of that many hours from now. */
  async function sweep(hours: number, fileStore = storeLater(0), aggregates = node.kernel.aggregates) {
    const now = () => Date.now() + hours * HOUR;
    const clock: ConfirmedClock = { now, confirmedNow: async () => now(), inSync: () => true };
    const position = await node.kernel.head();
    expect(await node.kernel.projectionProgress.wait('chat.files', position)).to.equal(true);
    const ports = { ...node.kernel, aggregates, clock, context: () => context(), fileStore };
    await createFileLifecycle(ports).sweep(new AbortController().signal);
  }
  const isReadable = async ({ filename }: { filename: string }) =>
    !('rejected' in (await node.files.file(ada, filename)));
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
  /** Stored bytes that no upload has confirmed, as seen a day later. */
  async function unsettled() {
    const orphans: string[] = [];
    for await (const { stored } of storeLater(25).unsettled()) orphans.push(stored);
    return orphans;
  }
  const eventsOf = async ({ fileId }: { fileId: string }) => {
    const events = await node.kernel.log.read(fileSubject({ fileId }));
    return typeof events === 'string' ? events : events.map(({ type }) => type).join();
  };

  it('are deleted with bytes, key and stream after a day without an attachment; attached ones stay', async () => {
    const [alone, held] = [await upload(), await upload()];
    await post(held.filename);
    await sweep(23);
    expect(await isReadable(alone)).to.equal(true);
    await sweep(25);
    expect(await isReadable(alone)).to.equal(false);
    expect(await isReadable(held)).to.equal(true);
    await eventually(async () => (await eventsOf(alone)) === 'deleted' && !(await storedBytes(alone)));
    expect(await node.kernel.vault.seal(fileSubject(alone), {})).to.equal(undefined);
    expect(await storedBytes(held)).to.equal(true);
    expect(await eventsOf(held)).to.equal('FileUploaded,FileAttached,FileKept');
    await sweep(50);
    expect(await eventsOf(held)).to.equal('FileUploaded,FileAttached,FileKept');
  });

  it('are deleted after a day even if the stream of another file is corrupt', async () => {
    const [damaged, alone] = [await upload(), await upload()];
    const { reload } = node.kernel.aggregates;
    const aggregates: typeof node.kernel.aggregates = {
      ...node.kernel.aggregates,
      reload: (kind, stream, ...rest) =>
        stream === fileSubject(damaged)
          ? Promise.reject(new CorruptEventError('the log is damaged'))
          : reload(kind, stream, ...rest),
    };
    expect(await sweep(25, storeLater(0), aggregates).catch((error) => error)).to.be.instanceOf(CorruptEventError);
    expect(await isReadable(alone)).to.equal(false);
    expect(await isReadable(damaged)).to.equal(true);
  });

  it('are not searched in messages of channels that the requester cannot see', async () => {
    const file = await upload();
    const made = await node.channels.create(ada, { name: 'closed', isPrivate: true }, context());
    accepted(await node.messages.post(ada, accepted(made).body.channel.id, attaching(file), context()));
    let lookups = 0;
    const visibility: typeof node.visibility = {
      ...node.visibility,
      message: (...args) => {
        lookups++;
        return node.visibility.message(...args);
      },
    };
    const files = createFiles({ ...node.kernel, ...node, fileStore: storeLater(0), visibility });
    const [bob, eve] = [await node.join('bob'), await node.join('eve', true)];
    expect('rejected' in (await files.file(bob, file.filename))).to.equal(true);
    expect(lookups).to.equal(0);
    expect('rejected' in (await files.file(eve, file.filename))).to.equal(false);
    expect(lookups).to.equal(1);
  });

  it('are deleted with their thumbnails, as orphans and with their message', async () => {
    const [alone, held] = [await uploadImage(), await uploadImage()];
    const images = { images: [held.filename!] };
    const { message } = accepted(await node.messages.post(ada, channelId, images, context())).body;
    await sweep(25);
    await eventually(async () => !(await imageBytes(alone)).includes(true));
    expect(await imageBytes(held)).to.deep.equal([true, true]);
    accepted(await node.messages.remove(ada, message.id, context()));
    await eventually(async () => !(await imageBytes(held)).includes(true));
  });

  it('are deleted after a day if the message they were attached to was never posted', async () => {
    const file = await upload();
    const usage = { messageId: 'm'.repeat(22), channelId };
    expect(await node.contents.attach(ada.userId, usage, attaching(file), context())).to.equal(undefined);
    await sweep(25);
    expect(await isReadable(file)).to.equal(false);
  });

  it('stay with a message that an edit removed them from, and are deleted with it', async () => {
    const file = await upload();
    const id = await post(file.filename);
    const edit = (changes: object) => node.messages.edit(ada, id, { content: 'x', ...changes }, context());
    accepted(await edit({ attachments: [] }));
    await sweep(25);
    accepted(await edit(attaching(file)));
    expect(await isReadable(file)).to.equal(true);
    accepted(await edit({ attachments: [] }));
    accepted(await node.messages.remove(ada, id, context()));
    await eventually(async () => (await eventsOf(file)) === 'deleted');
    expect(await storedBytes(file)).to.equal(false);
  });

  it('are kept while a message they are being attached to may still be posted', async () => {
    const file = await upload();
    const id = await post(file.filename);
    const target = { messageId: 'n'.repeat(22), channelId };
    expect(await node.contents.attach(ada.userId, target, attaching(file), context())).to.equal(undefined);
    const other = await upload();
    const marker = await post(other.filename);
    accepted(await node.messages.remove(ada, id, context()));
    accepted(await node.messages.remove(ada, marker, context()));
    // Then the earlier deletion has been handled as well.
    await eventually(async () => (await eventsOf(other)) === 'deleted');
    expect(await isReadable(file)).to.equal(true);
    await sweep(25);
    expect(await isReadable(file)).to.equal(false);
  });

  it('are images shown to nobody but their uploader once their message, or that of its thread, is deleted', async () => {
    const [{ filename = '' }, bob] = [await uploadImage(), await node.join('bob-who-looks')];
    const isShown = async () => !('rejected' in (await node.files.image(bob, channelId, filename)));
    expect(await isShown(), 'before it is posted').to.equal(true);
    const { post: postMessage, remove } = node.messages;
    const { id } = accepted(await postMessage(ada, channelId, { content: 'x' }, context())).body.message;
    accepted(await node.replies.post(ada, id, { images: [filename] }, context()));
    expect(await isShown(), 'in a reply').to.equal(true);
    accepted(await remove(ada, id, context()));
    expect(await isShown(), 'after the deletion').to.equal(false);
  });

  it('are stored once for a repeated upload, with nothing remaining of the second', async () => {
    const how = context(randomUUID(), 'body');
    const [first, second] = [await uploadImage(node.files, how), await uploadImage(node.files, how)];
    expect(second.filename).to.equal(first.filename);
    expect([await imageBytes(first), await imageBytes(second)]).to.deep.equal([
      [true, true],
      [false, false],
    ]);
    expect(await unsettled()).to.deep.equal([]);
  });

  it('are deleted after an interrupted upload if the log does not know them, and kept if it does', async () => {
    const store = storeLater(0);
    const content = await received();
    const what = { filename: 'plan.pdf', channelId: null, content };
    // A crash between the append and the step that follows it.
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
    for (const deleted of [unknown, itsThumbnail, half]) expect(await storedBytes(deleted)).to.equal(false);
    expect(await unsettled()).to.deep.equal([]);
    const again = accepted(await node.files.upload(ada, { ...what, content: await received() }, how)).body;
    expect(await isReadable(again)).to.equal(true);
  });

  it('lose their original name when the uploader is erased, also on nodes that cache them', async () => {
    const other = await startChatNode(servers, database, { projects: false });
    const feeding = other.feed();
    try {
      const cyd = await node.join('cyd');
      const file = await upload(cyd);
      const attachments = [{ filename: file.filename, originalName: '', contentType: '', size: 0 }];
      accepted(await node.messages.post(cyd, channelId, { attachments }, context()));
      /** The name of the file on each node, for a download and for a new attachment. */
      const names = () =>
        Promise.all(
          [node, other].map(async ({ files, contents }) => {
            const found = await files.file(ada, file.filename);
            if ('rejected' in found) throw new Error(found.rejected);
            const { originalName } = accepted(await files.download(found));
            const checked = accepted(await contents.check(ada, channelId, { attachments, images: [] }));
            return [originalName, checked.attachments?.[0]?.originalName];
          }),
        );
      const called = (name: string) => [Array(2).fill(name), Array(2).fill(name)];
      expect(await names()).to.deep.equal(called('plan.pdf'));
      accepted(await createEraseUser(node.kernel)(cyd.userId, context()));
      await eventually(async () => isDeepStrictEqual(await names(), called(file.filename)));
      // No node had to read the file again for that.
      for (const { kernel } of [node, other])
        expect(kernel.aggregates.cached(fileAggregate, fileSubject(file))?.state.upload?.secret).not.to.deep.equal({
          originalName: '',
        });
    } finally {
      await other.stop();
      await feeding.catch(() => {});
    }
  });

  it('lose their original name with the key of the uploader, their content with their own key', async () => {
    const bob = await node.join('bob');
    const file = await upload(bob);
    const read = async (by: Caller, { filename }: { filename: string }) => {
      const found = await node.files.file(by, filename);
      if ('rejected' in found) throw new Error(found.rejected);
      return found;
    };
    expect(await node.files.originalNameOf(await read(bob, file))).to.equal('plan.pdf');
    await node.kernel.vault.destroy(userSubject(bob));
    node.kernel.aggregates.forget(fileSubject(file));
    expect(await node.files.originalNameOf(await read(bob, file))).to.equal(file.filename);
    const other = await upload();
    const found = await read(ada, other);
    await node.kernel.vault.destroy(fileSubject(other));
    expect(await node.files.download(found)).to.include({ kind: 'not-found' });
  });
});
