/** Where records to import come from: files, compressed ones too, and standard input. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface Source {
  /** For people. */
  readonly name: string;
  /** Bytes to read in all, where that is known. */
  readonly size?: number;
  /** Somebody is writing to it: what comes is sent soon. */
  readonly live: boolean;
  /** Bytes read so far, of those in all. */
  read(): number;
  /** Ends early, without an error, when stopped. */
  chunks(stop: AbortSignal): AsyncIterable<Buffer>;
}

/** What is wrong with it, in words that go behind its name. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** A writer that was interrupted together with us has this long for its last words. */
const LAST_WORDS_MS = 1000;

/** Rejects with `Unreadable` when the file is not there or is no file, as reading it does. `-` is standard input. */
export async function openSource(path: string): Promise<Source> {
  if (path === '-') {
    const chunks = (stop: AbortSignal) => until(process.stdin, stop, LAST_WORDS_MS);
    return { name: 'standard input', live: true, read: () => 0, chunks };
  }
  const { size } = await file(path);
  const stream = createReadStream(path);
  // Whoever reads learns of the error; there may be nobody yet.
  stream.on('error', () => {});
  const content = path.endsWith('.gz') ? pipeline(stream, createGunzip(), () => {}) : stream;
  const chunks = (stop: AbortSignal) => until(content, stop, 0);
  return { name: path, size, live: false, read: () => stream.bytesRead, chunks };
}

async function file(path: string) {
  const found = await stat(path).catch((error: Error) => {
    throw new Unreadable(`can't be read: ${error.message}`);
  });
  if (found.isDirectory()) throw new Unreadable("can't be read: it is a directory");
  return found;
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
      throw new Unreadable(`can't be read to its end: ${error instanceof Error ? error.message : error}`);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}
