/** Limits the chunks of a request body: many tiny chunks cost as much CPU time as large ones. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** Chunks after which other work runs. A chunk costs the same with 1 byte as with 64 KB: 1 MB of bytes takes seconds. */
const CHUNKS_PER_SLICE = 500;
/** Chunks allowed regardless of size; far more than clients with many small writes need. */
const FREE_CHUNKS = 2000;
/** Minimum average size of all further chunks. */
const MIN_AVERAGE_BYTES = 16;

export interface ChunkListener {
  onChunk(bytes: number): void;
  /** Too many chunks for so few bytes; called again for each further chunk. */
  onTooMany(): void;
}

/**
 * Observes the chunks of a body from the moment something else starts to read it. (A 'data' listener would itself start
 * the flow and lose chunks.)
 *
 * @returns Stops observing.
 */
export function watchChunks(request: Readable, { onChunk, onTooMany }: ChunkListener): () => void {
  let [chunks, bytes] = [0, 0];
  const onData = (chunk: Buffer) => {
    chunks++;
    bytes += chunk.length;
    if (chunks > FREE_CHUNKS + bytes / MIN_AVERAGE_BYTES) return onTooMany();
    onChunk(chunk.length);
    if (chunks % CHUNKS_PER_SLICE !== 0) return;
    request.pause();
    setImmediate(() => request.resume());
  };
  const join = (event: string | symbol) => {
    if (event !== 'data') return;
    request.off('newListener', join);
    request.on('data', onData);
  };
  request.on('newListener', join);
  return () => request.off('newListener', join).off('data', onData);
}

/** Discards the rest of a body; disconnects clients that send it in too many chunks. */
export function drainBody(request: IncomingMessage): void {
  watchChunks(request, { onChunk: () => {}, onTooMany: () => request.socket.destroy() });
  request.on('data', () => {}).resume();
}
