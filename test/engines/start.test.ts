/** Supervision of engine starts by messages of the process, and engine exits. */
import { ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { ChildMessage } from '@annals/engines/internal/supervisor/child-main.js';
import { isLocked } from '@annals/engines/internal/supervisor/directory-lock.js';
import { startEngines, waitUntilReady } from '@annals/engines/internal/supervisor/supervisor.js';
import { killOnExit } from '@annals/engines/testing/children.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { freePort } from '../support/server-process.js';

/** Emits messages of a child process. */
function emitMessages(child: ChildProcess, ...messages: readonly ChildMessage[]): void {
  for (const message of messages) child.emit('message', message);
}

const up = { url: 'esdb://127.0.0.1:1', port: 1, isNew: false };

describe('a starting engine', () => {
  it('counts as started even if it reports damage in the same moment', async () => {
    const child = new ChildProcess();
    const started = waitUntilReady(child, 'eventstore', '/data', silentLogger);
    emitMessages(child, { damaged: 10 }, { damaged: 20 }, { ready: up });
    expect(await started).to.deep.equal(up);
  });

  it('is reported repeatedly until it has started', async () => {
    const child = new ChildProcess();
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    let reports = 0;
    const warn = ({ engine }: { engine?: string }) => {
      if (engine === 'mongo') reports++;
    };
    const started = waitUntilReady(child, 'mongo', '/data', { warn }, 1);
    await eventually(() => reports >= 3);
    const running = timers();
    emitMessages(child, { ready: up });
    await started;
    expect(timers()).to.equal(running - 1);
  });

  it('has failed once its process has exited', async () => {
    const child = new ChildProcess();
    const started = waitUntilReady(child, 'eventstore', '/data', silentLogger).catch((error: Error) => error);
    emitMessages(child, { damaged: 10 }, { failed: 'the store is cut short', isDamaged: true });
    child.emit('exit', 1, null);
    expect(await started).to.have.property('name', 'StoreDamaged');
    expect(await started).to.match(/eventstore engine did not start: the store is cut short/);
  });
});

/** Tries to listen on a port and releases it; resolves to `taken` or the error code. */
async function takePort(port: number): Promise<string> {
  const server = createServer((stranger) => stranger.destroy()).listen(port, '127.0.0.1');
  const outcome = await Promise.race([
    once(server, 'listening').then(() => 'taken'),
    once(server, 'error').then(([error]) => String(error.code)),
  ]).catch((error) => String(error.code));
  server.close();
  return outcome;
}

const START = import.meta.resolve('@annals/engines');

describe('an engine whose parent is killed', function () {
  this.timeout(60_000);

  it('exits too, also when the parent was too busy to notice the start', async () => {
    const directory = temporaryDirectory();
    const dataDir = directory.path;
    const port = Number(await freePort());
    // Its messages are no longer read, and its requests no longer acknowledged.
    const parent = `
      import { startEngines } from '${START}';
      const logger = { debug() {}, info() {}, warn() {}, error() {} };
      void startEngines({ dataDir: ${JSON.stringify(dataDir)}, mongoPort: ${port}, logger });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;
    const busy = killOnExit(spawn(process.execPath, ['--input-type=module', '-e', parent], { stdio: 'inherit' }));
    const engine = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`);
    let pids: readonly number[] = [];
    const stores = ['eventstore', 'mongo'].map((name) => join(dataDir, name));
    try {
      // An engine that answers has reported its start before.
      await eventually(() => engine.db('admin').command({ hello: 1 }));
      await eventually(() => stores.every(isLocked));
      pids = stores.map((store) => Number(readFileSync(join(store, 'lock'), 'utf8')));
      busy.kill('SIGKILL');
      await eventually(() => !stores.some(isLocked));
      pids = [];
    } finally {
      await engine.close();
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      directory.remove();
    }
    // No process holds the directory, and checking does not create it.
    expect([isLocked(dataDir), existsSync(dataDir)]).to.deep.equal([false, false]);
  });
});

describe('a crashing engine', () => {
  it('never leaves its port to another process, which would receive the secret, and restarts on it each time', async () => {
    const directory = temporaryDirectory();
    const running = new Map<string, number>();
    let back = 0;
    const note = (fields: { engine?: string; pid?: number }) => {
      if (!fields.engine || !fields.pid) return;
      running.set(fields.engine, fields.pid);
      back++;
    };
    const engines = await startEngines({
      dataDir: directory.path,
      logger: { ...silentLogger, info: note, warn: note },
    });
    const { eventStoreUrl, mongoUrl } = engines;
    const ports = [eventStoreUrl, mongoUrl].map((url) => Number(/:(\d+)[/?]/.exec(url)![1]));
    for (const times of [2, 3]) {
      for (const pid of running.values()) process.kill(pid, 'SIGKILL');
      const outcomes = new Set<string>();
      await eventually(async () => {
        for (const port of ports) outcomes.add(await takePort(port));
        return back === 2 * times;
      });
      expect([...outcomes]).to.deep.equal(['EADDRINUSE']);
      const client = connectEventStore(eventStoreUrl);
      expect(await client.getStreamMetadata('toys.box-1')).to.have.property('streamName', 'toys.box-1');
      await client.dispose();
      const mongo = await connectMongo(mongoUrl, 'toys');
      expect(await mongo.models.collection('boxes').countDocuments()).to.equal(0);
      await mongo.close();
    }
    await engines.stop();
    for (const port of ports) expect(await takePort(port)).to.equal('taken');
    directory.remove();
  });

  it('creates no new store when the data directory was moved away, and continues once it is back', async () => {
    const directory = temporaryDirectory();
    const dataDir = join(directory.path, 'data');
    const elsewhere = join(directory.path, 'elsewhere');
    const pids: number[] = [];
    const inVain: unknown[] = [];
    const note = ({ pid }: { pid?: number }) => pid && pids.push(pid);
    const error = ({ err }: { err?: unknown }) => err && inVain.push(err);
    const engines = await startEngines({ dataDir, logger: { ...silentLogger, info: note, warn: note, error } });
    try {
      renameSync(dataDir, elsewhere);
      for (const pid of pids) process.kill(pid, 'SIGKILL');
      await eventually(() => inVain.length >= 2);
      expect(String(inVain[0])).to.match(/data.mdb is missing, but a store was there/);
      expect(existsSync(dataDir)).to.equal(false);
      renameSync(elsewhere, dataDir);
      await eventually(() => pids.length === 4);
    } finally {
      await engines.stop();
      directory.remove();
    }
  });
});
