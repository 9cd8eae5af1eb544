/** Store files that are deleted, replaced or moved while in use, as by a backup restored too early. */
import { copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { watchStoreFile } from '@annals/engines/internal/supervisor/store-check.js';
import { startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { connectMongo } from '../../adapters/mongo/client.js';

const FILES = [join('eventstore', 'log', 'data.mdb'), join('mongo', 'data.mdb')];

const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'taken',
    (error) => error.type ?? error.name,
  );

const REFUSED = ['unavailable', 'UnavailableError'];
const TAKEN = ['taken', 'taken'];

async function startAll(dataDir: string, logger = silentLogger) {
  const engines = await startEngines({ dataDir, logger });
  const client = connectEventStore(engines.eventStoreUrl);
  const mongo = await connectMongo(engines.mongoUrl, 'toys');
  const boxes = mongo.models.collection<{ _id: number }>('boxes');
  let written = 0;
  return {
    /** The outcome of a write to each engine. */
    write: async () => [
      await outcome(client.appendToStream('toys.box-1', jsonEvent({ type: 'toys.ToyPut.v1', data: {} }))),
      await outcome(boxes.insertOne({ _id: written++ })),
    ],
    async read() {
      let events = 0;
      for await (const _ of client.readStream('toys.box-1')) events++;
      return [events, await boxes.countDocuments()];
    },
    async stop() {
      await client.dispose();
      await mongo.close();
      await engines.stop();
    },
  };
}

/** Replaces the file by a copy. */
function replace(path: string): void {
  copyFileSync(path, `${path}.backup`);
  renameSync(`${path}.backup`, path);
}

describe('a store file in use', function () {
  this.timeout(30_000);
  const directory = temporaryDirectory();
  after(() => directory.remove());
  let dataDir = '';
  let stores: Awaited<ReturnType<typeof startAll>>;
  beforeEach(async () => {
    dataDir = join(directory.path, `data-${Math.random()}`);
    stores = await startAll(dataDir);
  });
  afterEach(() => stores.stop());

  const acts = { deleted: rmSync, replaced: replace };
  for (const [what, act] of Object.entries(acts))
    it(`${what}: further writes are refused instead of lost, and existing data stays readable`, async () => {
      expect(await stores.write()).to.deep.equal(TAKEN);
      for (const file of FILES) act(join(dataDir, file));
      expect(await stores.write()).to.deep.equal(REFUSED);
      expect(await stores.read()).to.deep.equal([1, 1]);
    });

  it('moved away and back: work continues without loss', async () => {
    renameSync(dataDir, `${dataDir}-moved`);
    expect(await stores.write()).to.deep.equal(TAKEN);
    renameSync(`${dataDir}-moved`, dataDir);
    expect(await stores.write()).to.deep.equal(TAKEN);
    expect(await stores.read()).to.deep.equal([2, 2]);
  });

  it('replaced for a while: later writes are accepted', async () => {
    const [moved, other] = [`${dataDir}-moved`, `${dataDir}-other`];
    renameSync(dataDir, moved);
    await (await startAll(dataDir)).stop();
    expect(await stores.write()).to.deep.equal(REFUSED);
    renameSync(dataDir, other);
    renameSync(moved, dataDir);
    expect(await stores.write()).to.deep.equal(TAKEN);
  });
});

describe('an engine that crashes', function () {
  this.timeout(30_000);

  it('does not restart on a different store, unknown to its clients', async () => {
    const directory = temporaryDirectory();
    const pids: number[] = [];
    const inVain: unknown[] = [];
    const note = ({ pid }: { pid?: number }) => pid && pids.push(pid);
    const error = ({ err }: { err?: unknown }) => err && inVain.push(err);
    const stores = await startAll(directory.path, { ...silentLogger, info: note, warn: note, error });
    try {
      for (const file of FILES) replace(join(directory.path, file));
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await eventually(() => inVain.length >= 2);
      for (const each of inVain) expect(String(each)).to.match(/data.mdb was replaced: stop this process/);
      expect(pids).to.have.length(2);
    } finally {
      await stores.stop();
      directory.remove();
    }
  });

  it("releases a killed process's read pages every 10 s while being written to", () => {
    const directory = temporaryDirectory();
    const file = join(directory.path, 'data.mdb');
    writeFileSync(file, 'pages');
    let [now, looks] = [0, 0];
    const sameFile = watchStoreFile(file, { readerCheck: () => ++looks }, () => now);
    try {
      for (now of [5000, 9999, 10_000, 15_000, 19_999, 20_000]) sameFile.check();
      expect(looks).to.equal(2);
    } finally {
      sameFile.close();
      directory.remove();
    }
  });
});
