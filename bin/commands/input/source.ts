/** Reads import sources: files, also compressed, and standard input. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failed } from '../failure.js';

export interface Source {
  readonly name: string;
  readonly size?: number;
  /** Whether it is still being written, so that lines are sent without waiting for full batches. */
  readonly live: boolean;
  /** Bytes read so far, of `size`. */
  read(): number;
  /** Ends early, without an error, on abort. */
  chunks(stop: AbortSignal): AsyncIterable<Buffer>;
}

/** The message continues a sentence that starts with the name of the source. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** How long input is still read after an interrupt: Ctrl-C also stops the writer of the pipe, which may flush. */
const FLUSH_MS = 1000;

/** The paths of an import: as given, or standard input unless it is a terminal. */
export function inputPaths(args: readonly string[]): readonly string[] {
  if (args.length === 0 && process.stdin.isTTY)
    throw new Failed('nothing to import: pass files, or - for standard input');
  return args.length > 0 ? args : ['-'];
}

/** Opens a file, or standard input for `-`. Rejects with `Unreadable`, as reading it does later. */
export async function openSource(path: string): Promise<Source> {
  if (path === '-') {
    const chunks = (stop: AbortSignal) => until(process.stdin, stop, FLUSH_MS);
    return { name: 'standard input', live: true, read: () => 0, chunks };
  }
  const { size } = await file(path);
  const stream = createReadStream(path);
  // The error surfaces when the stream is read, which may start later.
  stream.on('error', () => {});
  const content = path.endsWith('.gz') ? pipeline(stream, createGunzip(), () => {}) : stream;
  const chunks = (stop: AbortSignal) => until(content, stop, 0);
  return { name: path, size, live: false, read: () => stream.bytesRead, chunks };
}

async function file(path: string) {
  const stats = await stat(path).catch((error: Error) => {
    throw new Unreadable(`can't be read: ${error.message}`);
  });
  if (stats.isDirectory()) throw new Unreadable("can't be read: it is a directory");
  return stats;
}

async function* until(stream: Readable, stop: AbortSignal, graceMs: number): AsyncGenerator<Buffer> {
  let timer: NodeJS.Timeout | undefined;
  const end = () => {
    timer = setTimeout(() => stream.destroy(), graceMs);
  };
  if (stop.aborted) end();
  stop.addEventListener('abort', end, { once: true });
  try {
    for await (const chunk of stream) yield chunk;
  } catch (error) {
    if (!stop.aborted)
      throw new Unreadable(`can't be read completely: ${error instanceof Error ? error.message : error}`);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}
