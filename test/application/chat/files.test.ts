/** What becomes of files that hang on nothing, or were left behind, and of the names of whoever is erased. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createGridFsStore } from '../../../adapters/mongo/files.js';
import type { Caller } from '../../../application/chat/admission.js';
import { createFileSweep } from '../../../application/chat/file-sweep.js';
import { createFiles } from '../../../application/chat/files.js';
import { createLostFiles } from '../../../application/chat/lost-files.js';
import { type FileStore, NotStored } from '../../../application/files/store.js';
import { type CertainClock, Damaged } from '../../../application/ports.js';
import { fileSubject } from '../../../domain/chat/events/files.js';
import { userSubject } from '../../../domain/chat/events/roster.js';
import { fileIdOf } from '../../../domain/chat/file-names.js';
import { SAMPLES } from '../../support/chat-files.js';
import { eventually } from '../../support/condition.js';
import { type Servers, startServers } from '../../support/engines.js';
import { context } from '../../support/toys.js';
import { accepted, type ChatNode, startChatNode } from './node.js';

const HOUR = 3_600_000;

describe('files of the chat', function () {
  this.timeout(120_000);
  let servers: Servers;
  let node: ChatNode;
  let ada: Caller;
  let channelId: string;
  before(async () => {
    servers = await startServers();
    node = await startChatNode(servers, `test_${randomUUID().slice(0, 8)}`, { react: true });
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
  const post = async (filename: string, how = context()) => {
    const attachments = [{ filename, originalName: '', contentType: '', size: 0 }];
    return accepted(await node.messages.post(ada, channelId, { attachments }, how)).body.message.id;
  };

  const storeLater = (hours: number): FileStore =>
    createGridFsStore(node.kernel.mongo.models, 'chat_bytes', () => Date.now() + hours * HOUR);
  /** A round, so many hours from now. */
  async function sweep(hours: number, fileStore = storeLater(0), streams = node.kernel.streams) {
    const now = () => Date.now() + hours * HOUR;
    const clock: CertainClock = { now, certain: async () => now(), agrees: () => true };
    const position = await node.kernel.head();
    expect(await node.kernel.settled.wait('chat.files', position)).to.equal(true);
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
    const { refresh } = node.kernel.streams;
    const streams: typeof node.kernel.streams = {
      ...node.kernel.streams,
      refresh: (kind, stream, ...rest) =>
        stream === fileSubject(damaged)
          ? Promise.reject(new Damaged('the log is damaged'))
          : refresh(kind, stream, ...rest),
    };
    expect(await sweep(25, storeLater(0), streams).catch((error) => error)).to.be.instanceOf(Damaged);
    expect(await isReadable(alone)).to.equal(false);
    expect(await isReadable(damaged)).to.equal(true);
  });

  it('are looked for in no message of a channel that whoever asks does not see', async () => {
    const file = await upload();
    const made = await node.channels.create(ada, { name: 'closed', isPrivate: true }, context());
    const attachments = [{ filename: file.filename, originalName: '', contentType: '', size: 0 }];
    accepted(await node.messages.post(ada, accepted(made).body.channel.id, { attachments }, context()));
    let looked = 0;
    const places: typeof node.places = {
      ...node.places,
      message: (...asked) => {
        looked++;
        return node.places.message(...asked);
      },
    };
    const files = createFiles({ ...node.kernel, ...node, fileStore: storeLater(0), places });
    const [bob, eve] = [await node.join('bob'), await node.join('eve', true)];
    expect('rejected' in (await files.file(bob, file.filename))).to.equal(true);
    expect(looked).to.equal(0);
    expect('rejected' in (await files.file(eve, file.filename))).to.equal(false);
    expect(looked).to.equal(1);
  });

  it('that were hung on what was never said go after a day', async () => {
    const file = await upload();
    const holding = { holderId: 'm'.repeat(22), messageId: 'm'.repeat(22), channelId };
    const attachment = { filename: file.filename, originalName: '', contentType: '', size: 0 };
    expect(await node.uploads.hang(ada.userId, holding, { attachments: [attachment] }, context())).to.equal(
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
    const half = await received();
    const unknown = await received();
    await unknown.keep('nobody'.padEnd(22, '0'));
    await sweep(0, storeLater(25));
    expect(await storedBytes(content)).to.equal(true);
    expect(await storedBytes(unknown)).to.equal(false);
    expect(await storedBytes(half)).to.equal(false);
    const left: string[] = [];
    for await (const { stored } of storeLater(25).unsettled()) left.push(stored);
    expect(left).to.deep.equal([]);
    const again = accepted(await node.files.upload(ada, { ...what, content: await received() }, how)).body;
    expect(await isReadable(again)).to.equal(true);
  });

  it('whose bytes are not in the store are counted, and none that was discarded', async () => {
    const file = await upload();
    const stored = storeLater(0);
    const rows = { find: async () => [file, file].map(({ fileId }) => ({ file: fileId })) as never };
    const ports = { ...node.kernel, rows, fileStore: stored };
    expect(await createLostFiles(ports)()).to.deep.equal({ looked: 1, lost: 0 });
    await stored.remove(file.stored);
    expect(await createLostFiles(ports)()).to.deep.equal({ looked: 1, lost: 1 });
    await sweep(25);
    // Of rows that are behind the log it has the last word.
    expect(await createLostFiles(ports)()).to.deep.equal({ looked: 1, lost: 0 });
  });

  it('have names that go with who uploaded them, and with the file', async () => {
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
