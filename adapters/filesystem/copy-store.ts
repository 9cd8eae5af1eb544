/** Copies a directory store while it is in use: files in it never change, they are only added and removed. */
import { constants, copyFileSync, createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ensurePrivateDirectory, flushDirectory, flushFile } from '@annals/engines';
import { OWNER_SEPARATOR } from './directory-store.js';

/** Copies and flushes the finished files of a store, if there is one. Files removed meanwhile may be missing. */
export async function copyDirectoryStore(directory: string, to: string) {
  const storedDir = join(directory, 'kept');
  if (!existsSync(storedDir)) return { files: 0, bytes: 0 };
  const shelves = readdirSync(storedDir);
  const names = namesIn(storedDir);
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

const namesIn = (storedDir: string) =>
  readdirSync(storedDir).flatMap((shelf) => readdirSync(join(storedDir, shelf)).map((name) => join(shelf, name)));

/** Lists the finished files of a store that no process uses. */
export function listDirectoryStore(directory: string) {
  const [storedDir, uploadsDir] = [join(directory, 'kept'), join(directory, 'new')];
  if (!existsSync(storedDir)) return [];
  const uploads = existsSync(uploadsDir) ? readdirSync(uploadsDir) : [];
  const unsettled = uploads.flatMap((upload) => readdirSync(join(uploadsDir, upload)));
  const owners = new Map(unsettled.map((name) => name.split(OWNER_SEPARATOR) as [string, string | undefined]));
  return namesIn(storedDir).map((name) => {
    const path = join(storedDir, name);
    const stored = basename(name);
    return {
      stored,
      size: statSync(path).size,
      owner: owners.get(stored),
      read: () => createReadStream(path),
    };
  });
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
