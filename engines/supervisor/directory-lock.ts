/** An exclusive lock on a directory, held by the kernel for a process and gone with it, however it dies. */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { privateDirectory } from './private-files.js';

/** Another process holds the directory; the message is one line a person can act on. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/** Takes the lock on the directory, closed to other users, or throws `DirectoryInUse`. Two processes on one store would overwrite each other's writes. */
export function lockDirectory(directory: string): { release(): void } {
  privateDirectory(directory);
  const path = join(directory, 'lock');
  const file = openSync(path, 'a+', 0o600);
  if (!tryLock(file)) {
    closeSync(file);
    const owner = readFileSync(path, 'utf8').trim();
    throw new DirectoryInUse(`${directory} is in use by ${owner ? `process ${owner}` : 'another process'}`);
  }
  ftruncateSync(file);
  writeSync(file, `${process.pid}\n`);
  return { release: () => closeSync(file) };
}

/** Whether a living process holds the directory's lock; where none ever did, nothing is made to find out. */
export function isLocked(directory: string): boolean {
  if (!existsSync(join(directory, 'lock'))) return false;
  try {
    lockDirectory(directory).release();
    return false;
  } catch (error) {
    if (error instanceof DirectoryInUse) return true;
    throw error;
  }
}
