/** Follows growing NDJSON files: whole lines only, over truncation and rotation, from where the log says we were. */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';

/** A file as it is known whatever it is called: rotation changes names, not this. */
export interface WatchedFile {
  readonly path: string;
  /** Of the file and of its first line, so that a reused inode is another file. */
  readonly id: string;
  readonly size: number;
  /** Nothing where another file is called so by now. */
  open(): Promise<FileHandle | undefined>;
}

/** What was found at a path, for the next look: as long as nothing happens to it, it need not be opened again. */
interface Known {
  readonly mark: string;
  readonly id: string;
}

type Places = Map<string, Known>;

export interface Piece {
  /** Whole lines. */
  readonly bytes: Buffer;
  /** Where the next piece begins, in bytes. */
  readonly end: number;
}

/** `app.ndjson`, and what rotation makes of it: `app.ndjson.1`, `app.ndjson-20261121`; nothing compressed. */
const NAME = /\.ndjson(?:[.-](?!.*(?:gz|zst|bz2|xz|zip)$)[\w.-]+)?$/i;
/** What follows links in a circle, or digs for ever, comes to an end. */
const DEPTH = 16;
const PIECE_BYTES = 512 * 1024;
/** What is longer than this without an end is no record, and passed over. */
const LINE_BYTES = 1024 * 1024;

/** What can't be read now, with the reason; the rest is not stopped by it. */
export type Unreadable = (path: string, error: unknown) => void;

/**
 * Gives the files of a directory and of those in it one after the other, by name, and closes what was opened of them. To
 * be called again and again: a file to which nothing has happened since costs no more than a look at its name.
 */
export function createFilesIn() {
  const known = new Map<string, Places>();

  return async function* filesIn(directory: string, unreadable: Unreadable): AsyncGenerator<WatchedFile> {
    const seen: Places = new Map();
    yield* below(directory, { before: known.get(directory), seen, unreadable }, DEPTH);
    known.set(directory, seen);
  };
}

interface Look {
  readonly before: Places | undefined;
  readonly seen: Places;
  readonly unreadable: Unreadable;
}

async function* below(directory: string, look: Look, depth: number): AsyncGenerator<WatchedFile> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error) => {
    look.unreadable(directory, error);
    return [];
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (depth > 0) yield* below(path, look, depth - 1);
    } else if (NAME.test(entry.name)) yield* watched(path, look);
  }
}

async function* watched(path: string, { before, seen, unreadable }: Look): AsyncGenerator<WatchedFile> {
  let handle: FileHandle | undefined;
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isFile()) return;
    const opened = async () => {
      // Without waiting for a writer: a FIFO may be called like a file by now.
      handle ??= await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const { dev, ino } = await handle.stat({ bigint: true });
      return dev === found.dev && ino === found.ino ? handle : undefined;
    };
    const mark = markOf(found);
    const last = before?.get(path);
    const id = last?.mark === mark ? last.id : await idOf(found, await opened());
    if (id === undefined) return;
    if (isSettled(found)) seen.set(path, { mark, id });
    yield { path, id, size: Number(found.size), open: opened };
  } catch (error) {
    // Gone since: rotated or deleted, and found again under its new name.
    if (!isGone(error)) unreadable(path, error);
  } finally {
    await handle?.close();
  }
}

async function idOf({ dev, ino }: BigIntStats, handle: FileHandle | undefined): Promise<string | undefined> {
  const first = handle && (await firstLine(handle));
  const hash = createHash('sha256').update(`${dev} ${ino} `);
  return first && hash.update(first).digest('base64url').slice(0, 32);
}

/** Another one whenever something was written, or the name is another file's. */
const markOf = ({ dev, ino, size, ctimeNs }: BigIntStats) => `${dev} ${ino} ${size} ${ctimeNs}`;

/** What changes within the grain of a file system's clock has the same time: only an older one says something. */
const SETTLED_MS = 2000n;
const isSettled = ({ ctimeMs }: BigIntStats) => BigInt(Date.now()) - ctimeMs > SETTLED_MS;

const isGone = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** The same for all processes of this machine that watch these directories; others have others of the same names. */
export const machineHash = (directories: readonly string[]): string =>
  createHash('sha256')
    .update(`${hostname()}\n${directories.join('\n')}`)
    .digest('hex')
    .slice(0, 16);

/** Who writes a file: its name without ending and rotation. */
export const writerOf = (path: string): string => basename(path).split(/\.ndjson/i, 1)[0] || 'default';

/** The next whole lines after an offset; undefined while there is none. */
export async function nextPiece(file: WatchedFile, offset: number): Promise<Piece | undefined> {
  const { size } = file;
  const handle = await file.open();
  if (!handle) return undefined;
  const bytes = await read(handle, offset, Math.min(PIECE_BYTES, size - offset));
  const end = bytes.lastIndexOf(NEWLINE);
  if (end >= 0) return { bytes: bytes.subarray(0, end + 1), end: offset + end + 1 };
  if (bytes.length < PIECE_BYTES) return undefined;
  const line = await read(handle, offset, LINE_BYTES);
  const found = line.indexOf(NEWLINE);
  if (found >= 0) return { bytes: line.subarray(0, found + 1), end: offset + found + 1 };
  return line.length < LINE_BYTES ? undefined : { bytes: Buffer.alloc(0), end: offset + LINE_BYTES };
}

const NEWLINE = 0x0a;
const FIRST_LINE_BYTES = 1024;

/** Undefined until it is complete: until then nobody knows which file it is. */
async function firstLine(handle: FileHandle): Promise<Buffer | undefined> {
  const bytes = await read(handle, 0, FIRST_LINE_BYTES);
  const end = bytes.indexOf(NEWLINE);
  if (end >= 0) return bytes.subarray(0, end);
  return bytes.length === FIRST_LINE_BYTES ? bytes : undefined;
}

async function read(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(Math.max(0, length));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
