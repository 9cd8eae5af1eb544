/** Copies a data directory as a whole, for `annals backup` and `annals restore`: the copy is complete or absent. */
import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import {
  type CopySource,
  flushDirectory,
  lockDirectory,
  type openCopySource,
  startEngines,
  writePrivateFile,
  writeStoreMark,
} from '@annals/engines';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { readHeadPosition } from '../../adapters/eventstore/subscription.js';
import { copyDirectoryStore } from '../../adapters/filesystem/copy-store.js';
import { createTreeStore } from '../../adapters/mongo/audit/tree-rows.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createCheckpoints } from '../../adapters/mongo/coordination/checkpoints.js';
import { onEnd } from '../../adapters/platform/process/shutdown.js';
import { trimTransparencyLog } from '../../application/audit/index.js';
import type { Position } from '../../application/ports/index.js';
import { copyNodeName } from '../node/locate-servers.js';
import type { AnnalsValues } from '../settings.js';
import { Failed } from './failure.js';
import { createCommandLogger } from './stores.js';

/** Ending of the name of a directory while it is being copied to. */
export const UNFINISHED = '.unfinished';

export interface CopyOptions {
  readonly from: string;
  readonly to: string;
  readonly values: AnnalsValues;
  /** Opens a store of `from`, which may be in use or not. */
  readonly open: typeof openCopySource;
}

/**
 * Copies to `<to>.unfinished`, tests and flushes the copy, and then has it renamed by `place`. Removes it after an error
 * or Ctrl-C; a copy that was killed is replaced by the next one.
 */
export async function copyDataDirectory(
  { from, to, values, open }: CopyOptions,
  place: (unfinished: string) => void,
): Promise<void> {
  const started = performance.now();
  const unfinished = `${to}${UNFINISHED}`;
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
    const { bytes, isBehindRows } = await copy(from, unfinished, open);
    const copied = identityOf(unfinished);
    // The engines of the test need the lock. They would make new stores if the copy had been removed.
    lock.release();
    await testCopy(unfinished, values, isBehindRows);
    if (identityOf(unfinished) !== copied) throw new Failed(`${unfinished} was removed meanwhile; try again`);
    flushDirectory(unfinished);
    place(unfinished);
    flushDirectory(dirname(to));
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    print(`${to}: ${megabytes(bytes)} in ${seconds} s`);
    if (isBehindRows)
      print('events were written meanwhile; the read models of the copy are rebuilt at its first start');
  } catch (error) {
    remove();
    throw error;
  } finally {
    unwatch();
  }
}

/** Differs for a directory that was removed and made again. */
function identityOf(dataDir: string): string {
  const { ino, birthtimeMs } = statSync(join(dataDir, 'eventstore'));
  return `${ino} ${birthtimeMs}`;
}

/** Whether a path is the directory or inside it. */
export function isWithin(directory: string, path: string): boolean {
  const [first] = relative(realPathOf(directory), realPathOf(path)).split(sep);
  return first !== '..';
}

/** Resolves symbolic links, also for a path that does not exist yet. */
export const realPathOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPathOf(dirname(path)), basename(path));

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;

/** Creates and locks the directory, replacing that of a killed command. Throws while another one is copying to it. */
function createTarget(unfinished: string) {
  if (existsSync(unfinished)) {
    if (!existsSync(join(unfinished, 'lock')))
      throw new Failed(`${unfinished} already exists and is not an unfinished copy; remove it`);
    lockDirectory(unfinished).release();
    // Engines of a killed command may still be shutting down in it.
    rmSync(unfinished, { recursive: true, maxRetries: 10 });
  }
  return lockDirectory(unfinished);
}

/**
 * Copies the log first, as keys and files are written before the events that need them.
 *
 * `isBehindRows`: the log was written to before MongoDB was copied, so rows may reflect events the copy lacks.
 */
async function copy(
  from: string,
  to: string,
  open: typeof openCopySource,
): Promise<{ bytes: number; isBehindRows: boolean }> {
  // Makes files that lmdb creates private to this user.
  process.umask(0o077);
  const log = await open(from, 'eventstore');
  const rows = await open(from, 'mongo');
  try {
    const written = log.lastTransactionId();
    const secret = readSecret(from);
    const logBytes = await copyStore('event store', log, to);
    const rowBytes = await copyStore('MongoDB', rows, to);
    const isBehindRows = log.lastTransactionId() !== written;
    if (readSecret(from) !== secret) throw new Failed('the secret was rotated meanwhile; try again');
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

/**
 * Rejects if the engines do not start on the copy. If it may be ahead of its log, marks its read models for a rebuild and
 * cuts its transparency log.
 */
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
      if (isBehindRows) await trimTransparencyLog(createTreeStore(mongo.audit), await headOf(engines.eventStoreUrl));
    } finally {
      await mongo.close();
    }
  } finally {
    await engines.stop();
  }
}

async function headOf(eventStoreUrl: string): Promise<Position> {
  const client = connectEventStore(eventStoreUrl);
  return readHeadPosition(client)
    .then((head = 0n) => head)
    .finally(() => client.dispose());
}
