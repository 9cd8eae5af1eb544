/** `annals audit verify`: checks the transparency log, an export of it or a proof. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SingleBar } from 'cli-progress';
import { Option } from 'commander';
import { createRetentionLookup } from '../../../adapters/eventstore/event-log.js';
import { CHECKPOINT_FILE, createTileReader } from '../../../adapters/filesystem/tile-directory.js';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import {
  type Checkpoint,
  compareLog,
  Difference,
  explainMissing,
  type IndexedEntry,
  MissingTileError,
  nodeReader,
  openCheckpoint,
  parseProof,
  type ReadTile,
  rootOf,
  type Verifier,
  verifyProof,
  verifyReceipt,
  verifyTree,
} from '../../../application/audit/index.js';
import { AUDIT_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { erasedSubject } from './receipts.js';
import { keyOption, type OpenedTransparencyLog, readText, withTransparencyLog } from './transparency-log.js';

export const verify: CommandSpec = {
  description:
    'Checks that the transparency log has the root of its signed checkpoint, and that the event log has every event of it, ' +
    'unchanged and in order, but those that were deleted or expired. With --offline it checks an export, for which ' +
    'neither this installation nor its events are needed. Ends with 1 and the first difference, if there is one.',
  examples: [
    ['audit verify', 'compare the transparency log with the event log'],
    ['audit verify --checkpoint head-2026-11-27', 'also that it still has what an older checkpoint covers'],
    ['audit verify --offline /srv/audit --key annals+5f3c...', 'an export, anywhere'],
    ['audit verify --proof post.tlog-proof --key annals+5f3c...', 'a proof of one event, anywhere'],
  ],
  options: [
    new Option('--offline <directory>', 'Check an export instead of this installation; needs --key'),
    new Option('--proof <file>', 'Check a proof of an event; needs --key').conflicts(['offline', 'checkpoint']),
    new Option('--receipt <file>', 'Check a receipt of an erasure; needs --key').conflicts([
      'offline',
      'checkpoint',
      'proof',
    ]),
    new Option('--checkpoint <file>', 'An older checkpoint, which the log must extend'),
    keyOption,
  ],
  reads: () => AUDIT_SETTINGS,
  async run({ config: { values }, options }: Call) {
    const keys = options.key as readonly Verifier[] | undefined;
    const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined);
    const [proof, receipt, directory, older] = [text('proof'), text('receipt'), text('offline'), text('checkpoint')];
    if ((proof ?? receipt ?? directory) !== undefined && !keys)
      throw new ConfigError('--key', 'is required with this option');
    try {
      if (proof !== undefined) return await checkProof(readText('--proof', proof), keys!);
      if (receipt !== undefined) return await checkReceipt(readText('--receipt', receipt), keys!);
      if (directory !== undefined) return await checkExport(directory, keys!, older);
      return await withTransparencyLog(values, (log) => checkLog(log, keys ?? log.keys, older));
    } catch (error) {
      throw error instanceof Difference || error instanceof MissingTileError ? new Failed(error.message) : error;
    }
  },
};

async function checkProof(text: string, keys: readonly Verifier[]): Promise<number> {
  const proof = parseProof(text);
  if (!proof) throw new Failed('the proof is malformed');
  const checkpoint = verifyProof(proof, keys);
  if (!checkpoint) throw new Failed('the proof does not show that its entry is in a log signed with this key');
  print(`${proof.entry}\nis entry ${proof.index} of ${describe(checkpoint)}\n`);
  return 0;
}

async function checkReceipt(text: string, keys: readonly Verifier[]): Promise<number> {
  const receipt = verifyReceipt(text, keys, erasedSubject);
  if (!receipt) throw new Failed('the receipt is malformed, not signed with this key, or does not prove its erasure');
  const { subject, event, entry, checkpoint } = receipt;
  print(`${subject} was erased at ${new Date(entry.time).toISOString()}\n${entry.type} ${event}\n`);
  print(`is in ${describe(checkpoint)}\n`);
  return 0;
}

async function checkExport(directory: string, keys: readonly Verifier[], older: string | undefined): Promise<number> {
  const path = join(directory, CHECKPOINT_FILE);
  if (!existsSync(path)) throw new Failed(`there is no checkpoint in ${directory}`);
  const checkpoint = open(readText('--offline', path), keys);
  const read = createTileReader(directory);
  await checkOlder(older, keys, checkpoint, read);
  let restarts = 0;
  for await (const bundle of withProgress(checkpoint, verifyTree(checkpoint, read)))
    restarts += bundle.filter(({ entry }) => 'restart' in entry).length;
  print(`${describe(checkpoint)}: every entry agrees\n`);
  if (restarts > 0) print(`the log was restored from a backup ${restarts === 1 ? 'once' : `${restarts} times`}\n`);
  return 0;
}

async function checkLog(
  { kernel, ports, head }: OpenedTransparencyLog,
  keys: readonly Verifier[],
  older: string | undefined,
): Promise<number> {
  const checkpoint = open(head.checkpoint, keys);
  const { readTile } = ports.store;
  await checkOlder(older, keys, checkpoint, readTile);
  const stop = new AbortController();
  const log = ports.followStored({ prefixes: ports.prefixes, from: 'start', signal: stop.signal });
  const restarts = head.restarts.filter(({ index }) => index < checkpoint.size);
  const entries = withProgress(checkpoint, verifyTree(checkpoint, readTile));
  const comparison = await compareLog(entries, log, { restarts }).finally(() => stop.abort());
  const firstRevision = async (stream: string) => {
    const found = await kernel.log.read(stream, { limit: 1 });
    return typeof found === 'string' ? found : (found[0]?.revision ?? 'missing');
  };
  const removed = await explainMissing(comparison, firstRevision, createRetentionLookup(kernel.client));
  print(`${describe(checkpoint)}: every entry agrees\n${count(comparison.events)} of the log agree\n`);
  if (removed.deleted > 0) print(`${count(removed.deleted)} were of streams that are deleted\n`);
  if (removed.expired > 0) print(`${count(removed.expired)} were removed by the rule of their stream\n`);
  if (comparison.lost > 0) print(`${count(comparison.lost)} were lost before the log was restored from a backup\n`);
  if (comparison.uncovered > 0) print(`${count(comparison.uncovered)} are newer than the checkpoint\n`);
  return 0;
}

function open(text: string, keys: readonly Verifier[]): Checkpoint {
  const checkpoint = openCheckpoint(text, keys);
  if (checkpoint) return checkpoint;
  const logKeys = keys.filter(isLogKey);
  if (!openCheckpoint(text, logKeys)) throw new Failed('the checkpoint is malformed or not signed with this key');
  const missing = keys.filter((key) => key.isWitness && !openCheckpoint(text, [...logKeys, key]));
  throw new Failed(`the checkpoint is not cosigned by ${missing.map(({ name }) => name).join(', ')}`);
}

const isLogKey = ({ isWitness }: Verifier) => !isWitness;

/** Rejects unless the tree extends that of an older checkpoint. */
async function checkOlder(path: string | undefined, keys: readonly Verifier[], { size }: Checkpoint, read: ReadTile) {
  if (path === undefined) return;
  // Witnesses may have been added since.
  const older = open(readText('--checkpoint', path), keys.filter(isLogKey));
  if (older.size > size)
    throw new Difference(`the log has ${size} entries, the older checkpoint ${older.size}`, undefined, undefined);
  const root = await rootOf(older.size, nodeReader(size, read));
  if (!root.equals(older.root))
    throw new Difference(`the log does not extend the older checkpoint of ${older.size} entries`, undefined, undefined);
}

async function* withProgress({ size }: Checkpoint, entries: AsyncIterable<readonly IndexedEntry[]>) {
  const bar = process.stderr.isTTY
    ? new SingleBar({ format: '{bar} {percentage} % | {value} of {total} entries', clearOnComplete: true })
    : undefined;
  bar?.start(size, 0);
  try {
    for await (const bundle of entries) {
      yield bundle;
      bar?.increment(bundle.length);
    }
  } finally {
    bar?.stop();
  }
}

const print = (text: string) => void process.stdout.write(text);
const count = (events: number) => `${events.toLocaleString('en')} ${events === 1 ? 'event' : 'events'}`;
const describe = ({ origin, size }: Checkpoint) => `${origin}, ${size.toLocaleString('en')} entries`;
