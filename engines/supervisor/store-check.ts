/** Checks the files of both stores before use: present, not empty, not replaced. */
import { closeSync, existsSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { writePrivateFile } from './private-files.js';

/** A store is missing, replaced or damaged. The message is one line the user can act on. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

export const RESTORE_HINT = 'restore the data directory from a backup';

/** Path of each engine's store in the data directory. */
export const FILES = { eventstore: join('eventstore', 'log', 'data.mdb'), mongo: join('mongo', 'data.mdb') };

export type EngineKind = keyof typeof FILES;

/** Name of the file that marks a data directory in which both stores have been created. */
const MARK = 'stores';
/** Content of the mark. The number changes with the format of either store. */
const MARK_TEXT = 'Format 2. The stores in this directory were created: an empty one means data loss.\n';

/** Reports whether both stores have ever been created there. */
export const areStoresMarked = (dataDir: string): boolean => existsSync(join(dataDir, MARK));

/**
 * Throws `StoreDamaged` when a store that was created is missing or empty, as lmdb would silently create a new one, or
 * has the format of another build.
 */
export function checkStores(dataDir: string): void {
  if (!areStoresMarked(dataDir)) return;
  if (readFileSync(join(dataDir, MARK), 'utf8') !== MARK_TEXT)
    throw new StoreDamaged(`${dataDir} was made by another build of Annals: start with a new data directory`);
  checkStore(dataDir, 'eventstore');
  checkStore(dataDir, 'mongo');
}

/**
 * Same for one store known to have been created. Returns its file's stats. Also throws if the file is not the one seen
 * `before`: clients that relied on that one would not notice the replacement.
 */
export function checkStore(dataDir: string, kind: EngineKind, before?: Stats): Stats {
  const path = join(dataDir, FILES[kind]);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.size) {
    if (before && !isSame(found, before)) throw new StoreDamaged(`${path} was replaced: ${RESTART_HINT}`);
    return found;
  }
  const size = found?.size;
  throw new StoreDamaged(
    `${path} is ${size === 0 ? 'empty' : 'missing'}, but a store was there: restore the data directory from ` +
      'a backup, or start with a new one',
  );
}

const RESTART_HINT = 'stop this process and start it again on the current files';

const isSame = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev;

export interface CheckedFile {
  /**
   * Throws `StoreDamaged` if writes would be lost because the file was deleted or replaced, as by restoring a backup.
   * A file that was only moved away keeps what is written and may come back.
   */
  check(): void;
  close(): void;
}

/** Milliseconds between checks for dead readers, made on writes only. */
const READER_CHECK_MS = 10_000;

/**
 * Watches the file of an open store, and its readers: pages read by a process killed during a copy would never be
 * freed, and the file would grow with every write.
 */
export function watchStoreFile(
  file: string,
  environment: Pick<RootDatabase, 'readerCheck'>,
  now: () => number = () => performance.now(),
): CheckedFile {
  let readersCheckedAt = now();
  const open = openSync(file, 'r');
  const openedFile = statSync(file);
  return {
    check() {
      if (now() - readersCheckedAt >= READER_CHECK_MS) {
        readersCheckedAt = now();
        environment.readerCheck();
      }
      const found = statSync(file, { throwIfNoEntry: false });
      if (found ? isSame(found, openedFile) : fstatSync(open).nlink > 0) return;
      const state = found ? 'replaced' : 'deleted';
      throw new StoreDamaged(`${file} was ${state} while in use; writes are refused: ${RESTART_HINT}`);
    },
    close: () => closeSync(open),
  };
}

/**
 * Marks the data directory once both stores exist.
 *
 * Throws `StoreDamaged` if one store was in use and the other is new. No store is used before both are marked.
 * @param isNew For each store's directory name, whether it was never used.
 */
export function markStores(dataDir: string, isNew: { readonly [name: string]: boolean }): void {
  if (areStoresMarked(dataDir)) return;
  const emptyStore = Object.keys(isNew).find((name) => isNew[name]);
  const usedStore = Object.keys(isNew).find((name) => !isNew[name]);
  if (emptyStore !== undefined && usedStore !== undefined)
    throw new StoreDamaged(
      `${join(dataDir, emptyStore)} is empty, but ${join(dataDir, usedStore)} was in use: restore both from a backup, ` +
        'or start with a new data directory',
    );
  writeStoreMark(dataDir);
}

/** Marks a data directory as holding both stores. */
export function writeStoreMark(dataDir: string): void {
  writePrivateFile(join(dataDir, MARK), MARK_TEXT);
}

/**
 * Throws `StoreDamaged` when the file has a key that is not `isOurs`: the file belongs to something else and would be
 * misread.
 */
export function checkKind(environment: RootDatabase, file: string, isOurs: (key: Buffer) => boolean): void {
  // Our keys sort together, so a foreign key is at one of the ends.
  for (const reverse of [false, true])
    for (const key of environment.getKeys({ reverse, limit: 1 }))
      if (!Buffer.isBuffer(key) || !isOurs(key))
        throw new StoreDamaged(`${file} holds something else: restore it from a backup`);
}
