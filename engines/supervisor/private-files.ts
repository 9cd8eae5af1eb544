/** Creates directories and files that only this user can read, regardless of the umask and of their previous mode. */
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
/** Mode bit of directories shared by all users, such as /tmp. */
const STICKY = 0o1000;

/** The directory belongs to other users too and cannot be made private. The message is one line the user can act on. */
export class SharedDirectory extends Error {
  override readonly name = 'SharedDirectory';
}

/** Creates the directory, or makes an existing one private. Throws `SharedDirectory` for one that other users need. */
export function ensurePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: DIRECTORY });
  const { mode } = lstatSync(path);
  if (mode & STICKY || resolve(path) === parse(resolve(path)).root)
    throw new SharedDirectory(`${path} belongs to all users of this machine; choose a directory inside it`);
  if ((mode & 0o777) !== DIRECTORY) chmodSync(path, DIRECTORY);
}

/** Makes a path and everything below it private. Does not follow links; a missing path is fine. */
export function makeTreePrivate(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats?.isFile()) chmodSync(path, FILE);
  if (!stats?.isDirectory()) return;
  chmodSync(path, DIRECTORY);
  for (const name of readdirSync(path)) makeTreePrivate(join(path, name));
}

/** Writes a private file atomically: after a crash it holds either the old text or the new one. */
export function writePrivateFile(path: string, text: string): void {
  const temporary = `${path}.new`;
  writeFlushed(temporary, text);
  renameSync(temporary, path);
  flushDirectory(dirname(path));
}

/** Creates a private file atomically unless it exists. If several processes try, the first one wins. */
export function createPrivateFile(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.new`;
  writeFlushed(temporary, text);
  try {
    linkSync(temporary, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(temporary);
  }
  flushDirectory(dirname(path));
}

function writeFlushed(temporary: string, text: string): void {
  const file = openSync(temporary, 'w', FILE);
  try {
    fchmodSync(file, FILE);
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Flushes a file to disk, so that it survives a power cut. */
export const flushFile = (path: string): void => flush(path, 'r+');

/** Flushes a directory. A new or renamed file survives a power cut only after this. */
export const flushDirectory = (path: string): void => flush(path, 'r');

function flush(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
