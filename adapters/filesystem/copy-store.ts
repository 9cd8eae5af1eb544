/** Copies a directory store while others write to it: what is kept there never changes, it only comes and goes. */
import { constants, copyFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { flushDirectory, flushFile, privateDirectory } from '@annals/engines';

export interface Copied {
  readonly files: number;
  readonly bytes: number;
}

/**
 * Copies, flushed, all that is kept when it is called; what goes meanwhile may be left out. Nothing where there is no
 * store. What is still being uploaded is not kept yet.
 */
export async function copyDirectoryStore(directory: string, to: string): Promise<Copied> {
  const kept = join(directory, 'kept');
  if (!existsSync(kept)) return { files: 0, bytes: 0 };
  const shelves = readdirSync(kept);
  const names = shelves.flatMap((shelf) => readdirSync(join(kept, shelf)).map((name) => join(shelf, name)));
  let [files, bytes] = [0, 0];
  for (const shelf of ['', ...shelves]) privateDirectory(join(to, 'kept', shelf));
  for (const name of names) {
    const copy = join(to, 'kept', name);
    // Whoever wants the copying to stop is heard in between.
    await setImmediate();
    if (!copyIfThere(join(kept, name), copy)) continue;
    flushFile(copy);
    files++;
    bytes += statSync(copy).size;
  }
  for (const shelf of shelves) flushDirectory(join(to, 'kept', shelf));
  for (const each of [join(to, 'kept'), to, dirname(to)]) flushDirectory(each);
  return { files, bytes };
}

function copyIfThere(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_FICLONE);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
