/** What can be told of the files of the two stores before anybody relies on them: that they are there, and whole. */
import { closeSync, existsSync, fstatSync, openSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { writePrivately } from './private-files.js';

/** A store that is not what it was; the message is one line a person can act on. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

/** What to do about it. */
export const RESTORE = 'restore the data directory from a backup';

/** Where each engine's data stands in the data directory. */
export const FILES = { eventstore: join('eventstore', 'log', 'data.mdb'), mongo: join('mongo', 'data.mdb') };

export type EngineKind = keyof typeof FILES;

/** Says that both stores were made once. */
const MARK = 'stores';

/** Whether both stores were ever made there. */
export const areStoresMarked = (dataDir: string): boolean => existsSync(join(dataDir, MARK));

/** Throws `StoreDamaged` when a store that was made is missing or empty: lmdb would begin a new one in its place. */
export function checkStores(dataDir: string): void {
  if (!areStoresMarked(dataDir)) return;
  checkStore(dataDir, 'eventstore');
  checkStore(dataDir, 'mongo');
}

/**
 * The same of one that is known to have been made. Gives its file as it is; throws too where that is not the one that it
 * was `before`, since whoever relied on that one would not know of it.
 */
export function checkStore(dataDir: string, kind: EngineKind, before?: Stats): Stats {
  const path = join(dataDir, FILES[kind]);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.size) {
    if (before && !isSame(found, before)) throw new StoreDamaged(`${path} was replaced: ${START_AGAIN}`);
    return found;
  }
  const size = found?.size;
  throw new StoreDamaged(
    `${path} is ${size === 0 ? 'empty' : 'missing'}, but a store was there: restore the data directory from ` +
      'a backup, or begin anew on another one',
  );
}

const START_AGAIN = 'stop this process, and start it again on what is there now';

const isSame = (one: Stats, other: Stats) => one.ino === other.ino && one.dev === other.dev;

export interface CheckedFile {
  /**
   * Throws `StoreDamaged` where what is written now would be lost: the file was deleted, or another one stands in its
   * place, as after a backup was restored. One that was only moved away keeps what is written, and may come back.
   */
  check(): void;
  close(): void;
}

/** So often, ms, while something is written. */
const READERS_MS = 10_000;

/**
 * Keeps an eye on the file of a store that is open, and on who reads it: what a process that was killed at a copy read
 * would never be given back, and the file grow by all that is written.
 */
export function keepEyeOn(
  file: string,
  environment: Pick<RootDatabase, 'readerCheck'>,
  now: () => number = () => performance.now(),
): CheckedFile {
  let looked = now();
  const open = openSync(file, 'r');
  const ours = statSync(file);
  return {
    check() {
      if (now() - looked >= READERS_MS) {
        looked = now();
        environment.readerCheck();
      }
      const found = statSync(file, { throwIfNoEntry: false });
      if (found ? isSame(found, ours) : fstatSync(open).nlink > 0) return;
      const what = found ? 'replaced' : 'deleted';
      throw new StoreDamaged(`${file} was ${what} while it was in use, and nothing more is taken: ${START_AGAIN}`);
    },
    close: () => closeSync(open),
  };
}

/**
 * Both stores are there; `isNew` says of each, by the name of its directory, whether it was ever used. Throws
 * `StoreDamaged` where one was and the other was not: none is used before both are marked.
 */
export function markStores(dataDir: string, isNew: { readonly [name: string]: boolean }): void {
  if (areStoresMarked(dataDir)) return;
  const lost = Object.keys(isNew).find((name) => isNew[name]);
  const used = Object.keys(isNew).find((name) => !isNew[name]);
  if (lost !== undefined && used !== undefined)
    throw new StoreDamaged(
      `${join(dataDir, lost)} holds nothing, but ${join(dataDir, used)} was in use: restore both from a backup, ` +
        'or begin anew on another data directory',
    );
  mark(dataDir);
}

/** Says of a data directory that both stores are in it. */
export function mark(dataDir: string): void {
  writePrivately(join(dataDir, MARK), 'The stores in this directory were made: an empty one is a loss.\n');
}

/** Throws `StoreDamaged` when there is a key of which `isOurs` says no: another engine would read anything into it. */
export function checkKind(environment: RootDatabase, file: string, isOurs: (key: Buffer) => boolean): void {
  // Ours lie together: of others there is one at an end.
  for (const reverse of [false, true])
    for (const key of environment.getKeys({ reverse, limit: 1 }))
      if (!Buffer.isBuffer(key) || !isOurs(key))
        throw new StoreDamaged(`${file} holds something else: restore it from a backup`);
}
