/** An exclusive lock on a directory, held by the kernel for a process and gone with it, however it dies. */
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';

/** Another process holds the directory; the message is one line a person can act on. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/** Takes the lock or throws `DirectoryInUse`. Two processes on one store would overwrite each other's writes. */
export function lockDirectory(directory: string): { release(): void } {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, 'lock');
  const file = openSync(path, 'a+');
  if (!tryLock(file)) {
    closeSync(file);
    const owner = readFileSync(path, 'utf8').trim();
    throw new DirectoryInUse(`${directory} is in use by ${owner ? `process ${owner}` : 'another process'}`);
  }
  ftruncateSync(file);
  writeSync(file, `${process.pid}\n`);
  return { release: () => closeSync(file) };
}

/** Whether a living process holds the directory's lock. */
export function isLocked(directory: string): boolean {
  try {
    lockDirectory(directory).release();
    return false;
  } catch (error) {
    if (error instanceof DirectoryInUse) return true;
    throw error;
  }
}
