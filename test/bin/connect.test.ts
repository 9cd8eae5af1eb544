/** Which engines a command uses while another process on its data directory starts, stops or has died. */
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

describe('a command beside another process on its data directory', () => {
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

  it('ignores what a killed process left behind while the next one starts', async () => {
    const left = { eventStoreUrl: 'esdb://127.0.0.1:1', mongoUrl: 'mongodb://127.0.0.1:1' };
    writeRuntime(dataDir, { pid: process.pid, startedAt: new Date().toISOString(), ...left });
    const starting = start();
    expect(findRuntime(dataDir)).equal(undefined);
    const { eventStoreUrl, mongoUrl } = await starting;
    expect(findRuntime(dataDir)).to.include({ eventStoreUrl, mongoUrl });
  });

  it('waits for starting engines and uses them', async () => {
    const starting = start();
    const found = await findServers(values(), silentLogger);
    const { eventStoreUrl, mongoUrl } = await starting;
    expect(found).to.include({ kind: 'embedded, of another process', eventStoreUrl, mongoUrl });
  });

  it('starts its own engines once the other process has stopped', async () => {
    const lock = lockDirectory(dataDir);
    const finding = findServers(values(), silentLogger);
    lock.release();
    const found = await finding;
    undo.push(found.stop);
    expect(found.kind).equal('embedded');
  });

  it('shares the engines of another command; `serve` waits until that one ends, then starts its own', async () => {
    const first = await findServers(values(), silentLogger, { passing: true });
    undo.push(first.stop);
    const lines: string[] = [];
    const info = (_: object, message: string) => lines.push(message);
    const serving = findServers(values(), { ...silentLogger, info });
    await eventually(() => lines.some((line) => line.includes(`process ${process.pid}`)));
    const second = await findServers(values(), silentLogger, { passing: true });
    expect(second).to.include({ kind: 'embedded, of another process', mongoUrl: first.mongoUrl });
    await undo.pop()?.();
    const found = await serving;
    undo.push(found.stop);
    expect(found.kind).equal('embedded');
    expect(findRuntime(dataDir)).to.include({ mongoUrl: found.mongoUrl }).and.not.have.property('passing');
  });

  /** Announces engines of this process in `runtime.json`; `end` releases their directory. */
  async function findEngines(dataDir: string, pid: number) {
    const lock = lockDirectory(dataDir);
    const urls = { eventStoreUrl: 'esdb://127.0.0.1:1', mongoUrl: 'mongodb://127.0.0.1:1' };
    writeRuntime(dataDir, { pid, startedAt: new Date().toISOString(), ...urls });
    const { awaitLoss: lost } = await findServers({ ...values(), dataDir }, silentLogger);
    expect(lost).to.be.a('function');
    return { end: lock.release, lost: lost! };
  }

  const killed = () => spawnSync(process.execPath, ['--version']).pid;

  it('fails when the process that owned its engines was killed and no other starts any', async () => {
    const { end, lost } = await findEngines(dataDir, killed());
    end();
    expect(await lost(0)).equal('gone');
  });

  it('keeps waiting while another process may still be starting engines', async () => {
    const { end, lost } = await findEngines(dataDir, process.pid);
    let reason: string | undefined;
    const loss = lost(0).then((why) => {
      reason = why;
    });
    removeRuntime(dataDir);
    // Engines found afterwards have stopped in the same moment.
    for (const name of ['one', 'another']) {
      const other = await findEngines(join(directory.path, name), killed());
      other.end();
      await other.lost(0);
    }
    expect(reason).equal(undefined);
    end();
    await loss;
    expect(reason).equal('gone');
  });

  it('names the process that holds the directory when no engines appear', async () => {
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
