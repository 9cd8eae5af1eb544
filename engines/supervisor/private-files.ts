/** Directories and files that only this user can read, whatever the umask and however they were made before. */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, parse, resolve } from 'node:path';

const DIRECTORY = 0o700;
const FILE = 0o600;
/** Set on directories that are everybody's, such as /tmp. */
const STICKY = 0o1000;

/** A directory that can't be closed to others; the message is one line a person can act on. */
export class SharedDirectory extends Error {
  override readonly name = 'SharedDirectory';
}

/** Makes the directory, or closes one that is there. Throws `SharedDirectory` for one that others need. */
export function privateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: DIRECTORY });
  const { mode } = lstatSync(path);
  if (mode & STICKY || resolve(path) === parse(resolve(path)).root)
    throw new SharedDirectory(`${path} belongs to all users of this machine; choose a directory inside it`);
  if ((mode & 0o777) !== DIRECTORY) chmodSync(path, DIRECTORY);
}

/** Closes what stands at the path, and all below it; links are left alone, and nothing there is fine. */
export function closeTree(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) chmodSync(path, FILE);
  if (!stats?.isDirectory()) return;
  chmodSync(path, DIRECTORY);
  for (const name of readdirSync(path)) closeTree(join(path, name));
}

/** Writes a file whole or not at all: after a crash at any moment it holds either its former text or this one. */
export function writePrivately(path: string, text: string): void {
  const made = `${path}.new`;
  flushed(made, text);
  renameSync(made, path);
  flushDirectory(dirname(path));
}

/** The same for a file that is not there yet; of several processes the first one's text stays. */
export function createPrivately(path: string, text: string): void {
  const made = `${path}.${process.pid}.new`;
  flushed(made, text);
  try {
    linkSync(made, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(made);
  }
  flushDirectory(dirname(path));
}

function flushed(made: string, text: string): void {
  const file = openSync(made, 'w', FILE);
  try {
    fchmodSync(file, FILE);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** What somebody else has written outlives a power cut only then. */
export const flushFile = (path: string): void => flush(path, 'r+');

/** A new or renamed file outlives a power cut only once its directory is flushed. */
export const flushDirectory = (path: string): void => flush(path, 'r');

function flush(path: string, flags: 'r' | 'r+'): void {
  const opened = openSync(path, flags);
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
