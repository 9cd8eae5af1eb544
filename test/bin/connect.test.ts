/** Which engines a command works with while others start, stop or have died on its data directory. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { DirectoryInUse, lockDirectory } from '../../adapters/engines/lock.js';
import { findRuntime, writeRuntime } from '../../adapters/engines/runtime.js';
import { startEngines } from '../../adapters/engines/start.js';
import { findServers } from '../../bin/node/connect.js';
import { quiet, temporaryDirectory } from '../support/engines.js';

describe('beside another process on its data directory, a command', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let dataDir: string;
  const undo: (() => unknown)[] = [];

  beforeEach(() => {
    directory = temporaryDirectory();
    dataDir = join(directory.path, 'data');
    mkdirSync(dataDir, { mode: 0o700 });
  });
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    directory.remove();
  });

  const values = () => ({ dataDir, 'eventStore.url': undefined, 'mongo.url': undefined });

  const start = () => {
    const starting = startEngines({ dataDir, logger: quiet });
    undo.push(async () => (await starting).stop());
    return starting;
  };

  it('takes what a killed process left behind for nobody’s while the next one starts', async () => {
    const left = { eventStoreUrl: 'esdb://127.0.0.1:1', mongoUrl: 'mongodb://127.0.0.1:1' };
    writeRuntime(dataDir, { pid: process.pid, startedAt: new Date().toISOString(), ...left });
    const starting = start();
    expect(findRuntime(dataDir)).equal(undefined);
    const { eventStoreUrl, mongoUrl } = await starting;
    expect(findRuntime(dataDir)).to.include({ eventStoreUrl, mongoUrl });
  });

  it('waits for the engines that are being started, and uses them', async () => {
    const starting = start();
    const found = await findServers(values(), quiet);
    const { eventStoreUrl, mongoUrl } = await starting;
    expect(found).to.include({ kind: 'embedded, of another process', eventStoreUrl, mongoUrl });
  });

  it('starts engines of its own once the other has gone', async () => {
    const lock = lockDirectory(dataDir);
    const finding = findServers(values(), quiet);
    lock.release();
    const found = await finding;
    undo.push(found.stop);
    expect(found.kind).equal('embedded');
  });

  it('says who holds the directory when no engines come of it', async () => {
    const lock = lockDirectory(dataDir);
    undo.push(lock.release);
    writeFileSync(join(dataDir, 'runtime.json'), '{');
    const error = await findServers(values(), quiet, 0).then(
      () => undefined,
      (refused: unknown) => refused,
    );
    expect(error).instanceOf(DirectoryInUse);
    expect(String(error)).to.include(`process ${process.pid}`);
  });
});
