/** `annals backup`: a copy of the data directory that can be started on, made beside a running server or without one. */
import { existsSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  areStoresMarked,
  flushDirectory,
  lockDirectory,
  mark,
  openToCopy,
  type StoreToCopy,
  startEngines,
  writePrivately,
} from '@annals/engines';
import { Argument } from 'commander';
import { copyDirectoryStore } from '../../adapters/filesystem/copy-store.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createCheckpoints } from '../../adapters/mongo/coordination/checkpoints.js';
import { onEnd } from '../../adapters/platform/process/signals.js';
import { takeName } from '../node/locate-servers.js';
import type { AnnalsValues } from '../settings.js';
import type { Call, CommandSpec } from './command.js';
import { Failed } from './failure.js';
import { createCommandLogger } from './logger.js';
import { noData } from './stores.js';

export const backup: CommandSpec = {
  description:
    'Copies the data directory, with the secret that was made there, into a directory outside of it that is not there ' +
    'yet and is started on like any other. A server may go on meanwhile: all that it has acknowledged before is in the ' +
    'copy. It is made as <directory>.unfinished, tried, and renamed at last: what has the name is whole. Given servers ' +
    'are backed up with their own tools.',
  examples: [
    ['backup /var/backups/annals-1', 'of ./data'],
    ['backup /var/backups/annals-2 --data-dir /var/lib/annals', 'of another directory'],
    ['serve --data-dir /var/backups/annals-1', 'what was copied'],
  ],
  arguments: [new Argument('<directory>', 'Where the copy is made')],
  async run({ config: { values }, args: [directory = ''] }: Call) {
    if (values['eventStore.url'] || values['mongo.url']) throw new Failed(GIVEN);
    const [from, to] = [resolve(values.dataDir), resolve(directory)];
    if (!areStoresMarked(from)) throw noData(from);
    if (isWithin(from, to)) throw new Failed(`${to} is in the data directory ${from}: name one outside of it`);
    if (existsSync(to)) throw new Failed(`${to} is there already: name a directory that is not`);
    const begun = performance.now();
    const unfinished = `${to}.unfinished`;
    const lock = takeOver(unfinished);
    const remove = () => rmSync(unfinished, { recursive: true, force: true });
    const listening = onEnd(
      () => {
        remove();
        process.stderr.write('annals: stopped, and nothing is left of it\n');
        process.exit(1);
      },
      () => {},
    );
    try {
      const { bytes, isApart } = await copy(from, unfinished);
      // Whoever tries it is to have it.
      lock.release();
      await tryOut(unfinished, values, isApart);
      flushDirectory(unfinished);
      renameSync(unfinished, to);
      flushDirectory(dirname(to));
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      say(`${to}: ${megabytes(bytes)} in ${seconds} s`);
      if (isApart) say('events came meanwhile: its read models are built anew at its first start');
      if (values.secret) say('the configured secret is not in it, and without that nothing in it opens');
      return 0;
    } catch (error) {
      remove();
      throw error;
    } finally {
      listening();
    }
  },
};

const GIVEN =
  'given servers are backed up with their own tools: the event store first, then MongoDB with both databases';

/** Whether a path is that of a directory, or leads into it. */
function isWithin(directory: string, path: string): boolean {
  const [first] = relative(realpathSync(directory), realPathOf(path)).split(sep);
  return first !== '..';
}

/** Where a path leads through symbolic links, also one that is not there yet. */
const realPathOf = (path: string): string =>
  existsSync(path) ? realpathSync(path) : join(realPathOf(dirname(path)), basename(path));

/** Makes the directory, or begins anew where another process was killed at it. Rejects while one is at it still. */
function takeOver(unfinished: string) {
  if (existsSync(unfinished)) {
    if (!existsSync(join(unfinished, 'lock'))) throw new Failed(`${unfinished} is in the way: remove it`);
    lockDirectory(unfinished).release();
    // Engines of one that was killed may be going down in it.
    rmSync(unfinished, { recursive: true, maxRetries: 10 });
  }
  return lockDirectory(unfinished);
}

/**
 * The log first: the keys of all its events, and the bytes of all its files, are there then. `isApart`: more was
 * written to it before MongoDB was copied, so that its rows may show what the copied log knows nothing of.
 */
async function copy(from: string, to: string): Promise<{ bytes: number; isApart: boolean }> {
  // Whatever lmdb makes is for this user alone.
  process.umask(0o077);
  const log = await openToCopy(from, 'eventstore');
  const rows = await openToCopy(from, 'mongo');
  try {
    const written = log.written();
    const secret = secretIn(from);
    const logBytes = await copied('event store', log, to);
    const rowBytes = await copied('MongoDB', rows, to);
    const isApart = log.written() !== written;
    if (secretIn(from) !== secret) throw new Failed('the secret was rotated meanwhile: begin again');
    if (secret !== undefined) writePrivately(join(to, 'secret'), secret);
    // Who starts on it goes by the name under which leases are held in it, and need not wait for their end.
    takeName(from, to);
    const { files, bytes } = await copyDirectoryStore(join(from, 'files'), join(to, 'files'));
    say(`files: ${files}, ${megabytes(bytes)}`);
    mark(to);
    return { bytes: logBytes + rowBytes + bytes, isApart };
  } finally {
    await Promise.all([log.close(), rows.close()]);
  }
}

async function copied(name: string, store: StoreToCopy, to: string): Promise<number> {
  const bytes = await store.copyTo(to).catch(({ message }) => {
    throw new Failed(`the ${name} can't be copied: ${message}`);
  });
  say(`${name}: ${megabytes(bytes)}`);
  return bytes;
}

function secretIn(dataDir: string): string | undefined {
  const path = join(dataDir, 'secret');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

/** Rejects when no engines start on it. Where its rows may be ahead of its log, they are taken for such at the next start. */
async function tryOut(dataDir: string, values: AnnalsValues, isApart: boolean): Promise<void> {
  const logger = createCommandLogger(values);
  const engines = await startEngines({ dataDir, passing: true, logger });
  try {
    const mongo = await connectMongo(engines.mongoUrl, values['mongo.database']);
    try {
      const checkpoints = createCheckpoints(mongo.models);
      const all = await checkpoints.all();
      // A row is written before its checkpoint is, which so says too little. A build that has rows and none is built
      // anew; what is no build (`reaction:…`) has only what it says.
      for (const name of isApart ? all.keys() : []) if (!name.includes(':')) await checkpoints.forget(name);
    } finally {
      await mongo.close();
    }
  } finally {
    await engines.stop();
  }
}

const say = (line: string) => void process.stdout.write(`${line}\n`);
const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`;
