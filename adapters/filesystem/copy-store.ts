/** Copies a directory store while it is in use: files in it never change, they are only added and removed. */
import { constants, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ensurePrivateDirectory, flushDirectory, flushFile } from '@annals/engines';

/** Copies and flushes the finished files of a store, if there is one. Files removed meanwhile may be missing. */
export async function copyDirectoryStore(directory: string, to: string) {
  const storedDir = join(directory, 'kept');
  if (!existsSync(storedDir)) return { files: 0, bytes: 0 };
  const shelves = readdirSync(storedDir);
  const names = shelves.flatMap((shelf) => readdirSync(join(storedDir, shelf)).map((name) => join(shelf, name)));
  let [files, bytes] = [0, 0];
  for (const shelf of ['', ...shelves]) ensurePrivateDirectory(join(to, 'kept', shelf));
  for (const name of names) {
    const copy = join(to, 'kept', name);
    // Lets abort signals and other work run between files.
    await setImmediate();
    if (!copyIfExists(join(storedDir, name), copy)) continue;
    flushFile(copy);
    files++;
    bytes += statSync(copy).size;
  }
  for (const shelf of shelves) flushDirectory(join(to, 'kept', shelf));
  for (const each of [join(to, 'kept'), to, dirname(to)]) flushDirectory(each);
  return { files, bytes };
}

function copyIfExists(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
