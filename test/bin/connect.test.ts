/** Which engines a command works with while others start, stop or have died on its data directory. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DirectoryInUse, lockDirectory } from '@annals/engines/internal/supervisor/directory-lock.js';
import { findRuntime, removeRuntime, writeRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { findServers } from '../../bin/node/locate-servers.js';

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
    const starting = startEngines({ dataDir, logger: silentLogger });
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
    const found = await findServers(values(), silentLogger);
    const { eventStoreUrl, mongoUrl } = await starting;
    expect(found).to.include({ kind: 'embedded, of another process', eventStoreUrl, mongoUrl });
  });

  it('starts engines of its own once the other has gone', async () => {
    const lock = lockDirectory(dataDir);
    const finding = findServers(values(), silentLogger);
    lock.release();
    const found = await finding;
    undo.push(found.stop);
    expect(found.kind).equal('embedded');
  });

  it('shares the engines of another command; who serves waits until that is done, and starts others', async () => {
    const first = await findServers(values(), silentLogger, { passing: true });
    undo.push(first.stop);
    const said: string[] = [];
    const info = (_: object, message: string) => said.push(message);
    const serving = findServers(values(), { ...silentLogger, info });
    await eventually(() => said.some((line) => line.includes(`process ${process.pid}`)));
    const second = await findServers(values(), silentLogger, { passing: true });
    expect(second).to.include({ kind: 'embedded, of another process', mongoUrl: first.mongoUrl });
    await undo.pop()?.();
    const found = await serving;
    undo.push(found.stop);
    expect(found.kind).equal('embedded');
    expect(findRuntime(dataDir)).to.include({ mongoUrl: found.mongoUrl }).and.not.have.property('passing');
  });

  /** Finds engines that are of this process, as far as `runtime.json` says; `end` gives up their directory. */
  async function findEngines(dataDir: string, pid: number) {
    const lock = lockDirectory(dataDir);
    const urls = { eventStoreUrl: 'esdb://127.0.0.1:1', mongoUrl: 'mongodb://127.0.0.1:1' };
    writeRuntime(dataDir, { pid, startedAt: new Date().toISOString(), ...urls });
    const { awaitLoss: lost } = await findServers({ ...values(), dataDir }, silentLogger);
    expect(lost).to.be.a('function');
    return { end: lock.release, lost: lost! };
  }

  const killed = () => spawnSync(process.execPath, ['--version']).pid;

  it('is told that the process whose engines it found was killed, and that nobody starts others', async () => {
    const { end, lost } = await findEngines(dataDir, killed());
    end();
    expect(await lost(0)).equal('gone');
  });

  it('is not told so while another process may still be starting engines', async () => {
    const { end, lost } = await findEngines(dataDir, process.pid);
    let told: string | undefined;
    const telling = lost(0).then((why) => {
      told = why;
    });
    removeRuntime(dataDir);
    // Engines of which this is told later have gone in the same moment.
    for (const name of ['one', 'another']) {
      const other = await findEngines(join(directory.path, name), killed());
      other.end();
      await other.lost(0);
    }
    expect(told).equal(undefined);
    end();
    await telling;
    expect(told).equal('gone');
  });

  it('says who holds the directory when no engines come of it', async () => {
    const lock = lockDirectory(dataDir);
    undo.push(lock.release);
    writeFileSync(join(dataDir, 'runtime.json'), '{');
    const error = await findServers(values(), silentLogger, { startingMs: 0 }).then(
      () => undefined,
      (refused: unknown) => refused,
    );
    expect(error).instanceOf(DirectoryInUse);
    expect(String(error)).to.include(`process ${process.pid}`);
  });
});
