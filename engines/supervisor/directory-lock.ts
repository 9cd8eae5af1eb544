/** Exclusive lock on a directory. The kernel releases it when the process ends, however that happens. */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { ensurePrivateDirectory } from './private-files.js';

/** Another process holds the directory. The message is one line the user can act on. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
}

/**
 * Makes the directory private and locks it, or throws `DirectoryInUse`. Two processes on one store would overwrite
 * each other's writes.
 */
export function lockDirectory(directory: string): { release(): void } {
  ensurePrivateDirectory(directory);
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

/** Reports whether a living process holds the directory's lock. Creates nothing. */
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
