/** Contract of a blob store, for the directory and GridFS. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { isReal, type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { createGridFsStore } from '../../../adapters/mongo/gridfs-blobs.js';
import { type FileStore, NotStored } from '../../../application/ports/blob-store.js';
import { UnavailableError } from '../../../application/ports/index.js';

/** Two unsettled blobs: one being written, one complete. */
interface Abandoned {
  readonly half: string;
  readonly whole: string;
}

interface World {
  readonly store: FileStore;
  /** Left behind by a process that no longer exists. */
  abandon(): Promise<Abandoned>;
  /** As the cleanup sees it. */
  readonly clearing: FileStore;
  stop(): Promise<void>;
}

const WRITER = fileURLToPath(new URL('./file-writer-process.js', import.meta.url));
let directory: ReturnType<typeof temporaryDirectory>;

async function inDirectory(): Promise<World> {
  directory = temporaryDirectory();
  const store = createDirectoryStore(directory.path);
  return {
    store,
    clearing: store,
    async abandon() {
      const child = killOnExit(fork(WRITER, [directory.path]));
      const [abandoned] = (await once(child, 'message')) as [Abandoned];
      child.kill('SIGKILL');
      await once(child, 'exit');
      return abandoned;
    },
    stop: async () => directory.remove(),
  };
}

async function inGridFs(): Promise<World> {
  const server: MongoServer = await mongoServer();
  const mongo: Mongo = await connectMongo(server.url, `test_files_${Math.random().toString(36).slice(2, 8)}`);
  const store = createGridFsStore(mongo.models, 'files', Date.now);
  return {
    store,
    // Long after: anything begun a day before is abandoned.
    clearing: createGridFsStore(mongo.models, 'files', () => Date.now() + 25 * 3_600_000),
    async abandon() {
      const [half, whole] = [await store.begin(), await store.begin()];
      await half.write(Buffer.from('half of it'));
      await whole.write(Buffer.from('all of it'));
      await whole.keep('somebody');
      return { half: half.stored, whole: whole.stored };
    },
    async stop() {
      await mongo.models.dropDatabase();
      await mongo.close();
      await server.stop();
    },
  };
}

async function all(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of bytes) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** The outcome of a read. */
const failing = (bytes: AsyncIterable<Uint8Array>): Promise<unknown> =>
  all(bytes).then(
    () => 'read',
    (error: unknown) => error,
  );

for (const [name, open] of [
  ['in a directory', inDirectory],
  ['in GridFS', inGridFs],
] as const) {
  describe(`blob store ${name}`, () => {
    let world: World;
    let store: FileStore;
    before(async () => {
      world = await open();
      ({ store } = world);
    });
    after(() => world.stop());

    async function storeFile(...pieces: readonly Buffer[]): Promise<string> {
      const writing = await store.begin();
      for (const piece of pieces) await writing.write(piece);
      await writing.keep('me');
      await store.settle(writing.stored);
      return writing.stored;
    }

    it('returns stored bytes, whole and by range', async () => {
      const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, at) => at * 7 + (at >> 8)));
      const stored = await storeFile(bytes.subarray(0, 3), bytes.subarray(3, 300_000), bytes.subarray(300_000));
      const size = bytes.length;
      for (const [from, to] of [
        [0, size],
        [0, 1],
        [299_999, 300_001],
        [size - 1, size],
        [1000, 600_000],
      ] as const)
        expect((await all(store.read(stored, from, to))).equals(bytes.subarray(from, to)), `${from}`).to.equal(true);
    });

    it('hides blobs that are not complete', async () => {
      const writing = await store.begin();
      await writing.write(Buffer.from('x'));
      expect(await failing(store.read(writing.stored, 0, 1))).to.be.instanceOf(NotStored);
      await writing.drop();
      await writing.drop();
      expect(await failing(store.read(writing.stored, 0, 1))).to.be.instanceOf(NotStored);
    });

    it('discards a complete blob that was never used', async () => {
      const writing = await store.begin();
      await writing.write(Buffer.from('x'));
      await writing.keep('me');
      expect(String(await all(store.read(writing.stored, 0, 1)))).to.equal('x');
      await writing.drop();
      expect(await failing(store.read(writing.stored, 0, 1))).to.be.instanceOf(NotStored);
    });

    it('deletes permanently and idempotently', async () => {
      const [gone, other] = [await storeFile(Buffer.from('x')), await storeFile(Buffer.from('y'))];
      await store.remove(gone);
      await store.remove(gone);
      expect(await failing(store.read(gone, 0, 1))).to.be.instanceOf(NotStored);
      expect(String(await all(store.read(other, 0, 1)))).to.equal('y');
    });

    it('knows only names that it created', async () => {
      for (const stored of ['', '..', '../kept', '/etc/passwd', 'x'.repeat(22), '0'.repeat(24), 'a/b']) {
        expect(await failing(store.read(stored, 0, 1)), stored).to.be.instanceOf(NotStored);
        await store.remove(stored);
        await store.settle(stored);
      }
    });

    it('does not list blobs that may still be written', async () => {
      const writing = await store.begin();
      await writing.write(Buffer.from('x'));
      for await (const { stored } of store.unsettled()) expect(stored).not.to.equal(writing.stored);
      await writing.drop();
    });

    it('lists blobs begun by dead processes until they are settled', async () => {
      const mine = await store.begin();
      await storeFile(Buffer.from('settled'));
      const { half, whole } = await world.abandon();
      const left = new Map<string, string | undefined>();
      for await (const { stored, of } of world.clearing.unsettled()) left.set(stored, of);
      left.delete(mine.stored);
      expect([...left].sort()).to.deep.equal(
        [
          [half, undefined],
          [whole, 'somebody'],
        ].sort(),
      );
      expect(String(await all(store.read(whole, 0, 9)))).to.equal('all of it');
      await world.clearing.remove(half);
      await world.clearing.settle(half);
      await world.clearing.settle(whole);
      const still: string[] = [];
      for await (const { stored } of world.clearing.unsettled()) still.push(stored);
      expect(still.filter((each) => each !== mine.stored)).to.deep.equal([]);
      expect(String(await all(store.read(whole, 0, 9)))).to.equal('all of it');
      await mine.drop();
    });
  });
}

describe('blobs in GridFS', () => {
  it('are not reported missing when the store cannot answer', async function () {
    if (isReal) this.skip();
    const server = await mongoServer();
    const mongo = await connectMongo(server.url, 'test_files', 100);
    const store = createGridFsStore(mongo.models, 'files', Date.now);
    const writing = await store.begin();
    await writing.write(Buffer.from('x'));
    await writing.keep('me');
    await server.stop();
    expect(await failing(store.read(writing.stored, 0, 1))).to.be.instanceOf(UnavailableError);
    await mongo.close();
  });
});

describe('blob directory', () => {
  it('is accessible to its owner only and contains nothing of a killed process', async () => {
    const world = await inDirectory();
    const { whole } = await world.abandon();
    for await (const { stored } of world.store.unsettled()) {
      await world.store.remove(stored);
      await world.store.settle(stored);
    }
    expect(await failing(world.store.read(whole, 0, 1))).to.be.instanceOf(NotStored);
    const writing = await world.store.begin();
    await writing.write(Buffer.from('x'));
    await writing.keep('me');
    await world.store.settle(writing.stored);
    const found = readdirSync(directory.path, { recursive: true, encoding: 'utf8' });
    for (const each of found) {
      const stats = statSync(join(directory.path, each));
      expect(stats.mode & 0o777, each).to.equal(stats.isDirectory() ? 0o700 : 0o600);
    }
    const files = found.filter((each) => statSync(join(directory.path, each)).isFile());
    expect(files.map((each) => each.split('/').at(-1)).sort()).to.deep.equal([writing.stored, 'lock'].sort());
    await world.stop();
  });
});
