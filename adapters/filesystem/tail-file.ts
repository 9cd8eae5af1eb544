/** Tails growing NDJSON files by whole lines, across truncation and rotation, from given offsets. */
import { createHash } from 'node:crypto';
import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';

/** A file with an identity that survives renames, such as by rotation. */
export interface WatchedFile {
  readonly path: string;
  /** Hash of inode and first line, so that a reused inode is another file. */
  readonly id: string;
  readonly size: number;
  /** Opens the file; undefined if another file has its name by now. */
  open(): Promise<FileHandle | undefined>;
}

/** Cached state of a path, so that an unchanged file need not be opened again. */
interface CachedFile {
  readonly fingerprint: string;
  readonly id: string;
}

type CachedFiles = Map<string, CachedFile>;

export interface Piece {
  /** Whole lines. */
  readonly bytes: Buffer;
  /** Where the next piece begins, in bytes. */
  readonly end: number;
}

/** Matches `app.ndjson` and its rotated names (`app.ndjson.1`, `app.ndjson-20261121`), except compressed ones. */
const NDJSON_NAME = /\.ndjson(?:[.-](?!.*(?:gz|zst|bz2|xz|zip)$)[\w.-]+)?$/i;
/** Maximum directory depth, against link cycles. */
const MAX_DEPTH = 16;
const PIECE_BYTES = 512 * 1024;
/** Longer lines are not records and are skipped. */
const LINE_BYTES = 1024 * 1024;

/** Called for paths that cannot be read; the others are still read. */
export type OnUnreadable = (path: string, error: unknown) => void;

/** Creates a generator of all files below a directory, by name. Call it repeatedly: unchanged files cost a `stat`. */
export function createFileScanner() {
  const cachedFiles = new Map<string, CachedFiles>();

  return async function* filesIn(directory: string, unreadable: OnUnreadable): AsyncGenerator<WatchedFile> {
    const seen: CachedFiles = new Map();
    yield* listFiles(directory, { previous: cachedFiles.get(directory), seen, unreadable }, MAX_DEPTH);
    cachedFiles.set(directory, seen);
  };
}

interface Scan {
  readonly previous: CachedFiles | undefined;
  readonly seen: CachedFiles;
  readonly unreadable: OnUnreadable;
}

async function* listFiles(directory: string, scan: Scan, depth: number): AsyncGenerator<WatchedFile> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error) => {
    scan.unreadable(directory, error);
    return [];
  });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (depth > 0) yield* listFiles(path, scan, depth - 1);
    } else if (NDJSON_NAME.test(entry.name)) yield* readEntry(path, scan);
  }
}

async function* readEntry(path: string, { previous, seen, unreadable }: Scan): AsyncGenerator<WatchedFile> {
  let handle: FileHandle | undefined;
  try {
    const found = await stat(path, { bigint: true });
    if (!found.isFile()) return;
    const openFile = async () => {
      // Non-blocking, since the path may be a FIFO by now.
      handle ??= await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const { dev, ino } = await handle.stat({ bigint: true });
      return dev === found.dev && ino === found.ino ? handle : undefined;
    };
    const fingerprint = fingerprintOf(found);
    const cachedFile = previous?.get(path);
    const id = cachedFile?.fingerprint === fingerprint ? cachedFile.id : await idOf(found, await openFile());
    if (id === undefined) return;
    if (isSettled(found)) seen.set(path, { fingerprint, id });
    yield { path, id, size: Number(found.size), open: openFile };
  } catch (error) {
    // Rotated or deleted meanwhile; a rotated file is found under its new name.
    if (!isNotFound(error)) unreadable(path, error);
  } finally {
    await handle?.close();
  }
}

async function idOf({ dev, ino }: BigIntStats, handle: FileHandle | undefined): Promise<string | undefined> {
  const first = handle && (await firstLine(handle));
  const hash = createHash('sha256').update(`${dev} ${ino} `);
  return first && hash.update(first).digest('base64url').slice(0, 32);
}

/** Fingerprint of a file's state: changes with every write and every rename onto the path. */
const fingerprintOf = ({ dev, ino, size, ctimeNs }: BigIntStats) => `${dev} ${ino} ${size} ${ctimeNs}`;

/** Age from which an unchanged timestamp is reliable, given the granularity of file system clocks. */
const SETTLED_MS = 2000n;
const isSettled = ({ ctimeMs }: BigIntStats) => BigInt(Date.now()) - ctimeMs > SETTLED_MS;

const isNotFound = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';

/** Identifies this machine and its directories: equal for all its processes, different for other machines. */
export const machineHash = (directories: readonly string[]): string =>
  createHash('sha256')
    .update(`${hostname()}\n${directories.join('\n')}`)
    .digest('hex')
    .slice(0, 16);

/** Returns the writer of a file: its name without extension and rotation suffix. */
export const writerOf = (path: string): string => basename(path).split(/\.ndjson/i, 1)[0] || 'default';

/** Returns the next whole lines after an offset; undefined if there is none. */
export async function readNextLines(file: WatchedFile, offset: number): Promise<Piece | undefined> {
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

/** Returns the first line; undefined until it is complete, since it identifies the file. */
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
