/** `annals backup`: copies the data directory, with or without a running server. */
import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  areStoresMarked,
  type CopySource,
  flushDirectory,
  lockDirectory,
  openCopySource,
  startEngines,
  writePrivateFile,
  writeStoreMark,
} from '@annals/engines';
import { Argument } from 'commander';
import { copyDirectoryStore } from '../../adapters/filesystem/copy-store.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createCheckpoints } from '../../adapters/mongo/coordination/checkpoints.js';
import { onEnd } from '../../adapters/platform/process/shutdown.js';
import { copyNodeName } from '../node/locate-servers.js';
import type { AnnalsValues } from '../settings.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { createCommandLogger, noData } from './stores.js';

export const backup: CommandSpec = {
  description:
    'Copies the data directory, including a generated secret, to a new directory outside of it, on which a server can ' +
    'be started. Works with or without a running server: the copy contains everything acknowledged before the command. ' +
    'The copy is made as <directory>.unfinished, tested and renamed at the end, so a directory with the final name is ' +
    'complete. Back up configured servers with their own tools.',
  examples: [
    ['backup /var/backups/annals-1', 'back up ./data'],
    ['backup /var/backups/annals-2 --data-dir /var/lib/annals', 'back up another directory'],
    ['serve --data-dir /var/backups/annals-1', 'start a server on the copy'],
  ],
  arguments: [new Argument('<directory>', 'Target directory; must not exist')],
  async run({ config: { values }, args: [directory = ''] }: Call) {
    if (values['eventStore.url'] || values['mongo.url']) throw new Failed(CONFIGURED_SERVERS);
    const [from, to] = [resolve(values.dataDir), resolve(directory)];
    if (!areStoresMarked(from)) throw noData(from);
    if (isWithin(from, to))
      throw new Failed(`${to} is inside the data directory ${from}; choose a directory outside of it`);
    if (existsSync(to)) throw new Failed(`${to} already exists; choose a new directory`);
    const started = performance.now();
    const unfinished = `${to}.unfinished`;
    const lock = createTarget(unfinished);
    const remove = () => rmSync(unfinished, { recursive: true, force: true });
    const unwatch = onEnd(
      () => {
        remove();
        process.stderr.write('annals: stopped; the unfinished copy was removed\n');
        process.exit(1);
      },
      () => {},
    );
    try {
      const { bytes, isBehindRows } = await copy(from, unfinished);
      // The engines of the test need the lock.
      lock.release();
      await testCopy(unfinished, values, isBehindRows);
      flushDirectory(unfinished);
      renameSync(unfinished, to);
      flushDirectory(dirname(to));
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      print(`${to}: ${megabytes(bytes)} in ${seconds} s`);
      if (isBehindRows)
        print('events were written during the backup; the read models of the copy are rebuilt at its first start');
      if (values.secret) print('the copy does not contain the configured secret, which is needed to read it');
      return 0;
    } catch (error) {
      remove();
      throw error;
    } finally {
      unwatch();
    }
  },
};

const CONFIGURED_SERVERS =
  'back up configured servers with their own tools: the event store first, then MongoDB with both databases';

/** Whether a path is the directory or inside it. */
function isWithin(directory: string, path: string): boolean {
  const [first] = relative(realpathSync(directory), realPathOf(path)).split(sep);
  return first !== '..';
}

/** Resolves symbolic links, also for a path that does not exist yet. */
const realPathOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPathOf(dirname(path)), basename(path));

/** Creates and locks the directory, replacing that of a killed backup. Throws while another backup is running. */
function createTarget(unfinished: string) {
  if (existsSync(unfinished)) {
    if (!existsSync(join(unfinished, 'lock')))
      throw new Failed(`${unfinished} already exists and is not a backup; remove it`);
    lockDirectory(unfinished).release();
    // Engines of a killed backup may still be shutting down in it.
    rmSync(unfinished, { recursive: true, maxRetries: 10 });
  }
  return lockDirectory(unfinished);
}

/**
 * Copies the log first, as keys and files are written before the events that need them.
 *
 * `isBehindRows`: the log was written to before MongoDB was copied, so rows may reflect events the copy lacks.
 */
async function copy(from: string, to: string): Promise<{ bytes: number; isBehindRows: boolean }> {
  // Makes files that lmdb creates private to this user.
  process.umask(0o077);
  const log = await openCopySource(from, 'eventstore');
  const rows = await openCopySource(from, 'mongo');
  try {
    const written = log.lastTransactionId();
    const secret = readSecret(from);
    const logBytes = await copyStore('event store', log, to);
    const rowBytes = await copyStore('MongoDB', rows, to);
    const isBehindRows = log.lastTransactionId() !== written;
    if (readSecret(from) !== secret) throw new Failed('the secret was rotated during the backup; try again');
    if (secret !== undefined) writePrivateFile(join(to, 'secret'), secret);
    // A server on the copy then owns the copied leases and need not wait for them to expire.
    copyNodeName(from, to);
    const { files, bytes } = await copyDirectoryStore(join(from, 'files'), join(to, 'files'));
    print(`files: ${files}, ${megabytes(bytes)}`);
    writeStoreMark(to);
    return { bytes: logBytes + rowBytes + bytes, isBehindRows };
  } finally {
    await Promise.all([log.close(), rows.close()]);
  }
}

async function copyStore(name: string, store: CopySource, to: string): Promise<number> {
  const bytes = await store.copyTo(to).catch(({ message }) => {
    throw new Failed(`the ${name} could not be copied: ${message}`);
  });
  print(`${name}: ${megabytes(bytes)}`);
  return bytes;
}

function readSecret(dataDir: string): string | undefined {
  const path = join(dataDir, 'secret');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Rejects if the engines do not start on the copy. Marks read models that may be ahead of the log for a rebuild. */
async function testCopy(dataDir: string, values: AnnalsValues, isBehindRows: boolean): Promise<void> {
  const logger = createCommandLogger(values);
  const engines = await startEngines({ dataDir, passing: true, logger });
  try {
    const mongo = await connectMongo(engines.mongoUrl, values['mongo.database']);
    try {
      const checkpoints = createCheckpoints(mongo.models);
      const all = await checkpoints.all();
      // Rows are written before their checkpoint, so it cannot tell whether they are ahead. A build with rows and
      // without a checkpoint is rebuilt; checkpoints of reactions (`reaction:…`) stay.
      for (const name of isBehindRows ? all.keys() : []) if (!name.includes(':')) await checkpoints.forget(name);
    } finally {
      await mongo.close();
    }
  } finally {
    await engines.stop();
  }
}

const print = (line: string) => void process.stdout.write(`${line}\n`);
const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
