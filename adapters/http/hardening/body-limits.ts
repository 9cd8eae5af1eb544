/** Stops floods of tiny body chunks, which cost CPU time, and bodies that stall, which hold memory and connections. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { type After, systemTimer } from '../../platform/process/timer.js';
import { type Problem, problem, TOO_SLOW } from '../server/problem.js';

/** Chunks after which other work runs. A chunk costs the same with 1 byte as with 64 KB: 1 MB of bytes takes seconds. */
const CHUNKS_PER_SLICE = 500;
/** Chunks allowed regardless of size; far more than clients with many small writes need. */
const FREE_CHUNKS = 2000;
/** Minimum average size of all further chunks. */
const MIN_AVERAGE_BYTES = 16;

/** Interval of the check in ms: a stalled body is detected within two of them. */
const WINDOW_MS = 5000;
/** Minimum bytes per window: an eighth of an uplink of 32 KB/s, as connections may falter. */
const MIN_BYTES = 20 * 1024;

const tooManyChunks = problem(400, 'The body is sent in too many small chunks');
/** Closes the connection, as the rest of the body is not awaited. */
const tooSlow = problem(408, TOO_SLOW, { headers: { Connection: 'close' } });

/** Watches a body while something else reads it, until the returned function is called. May reject repeatedly. */
export function watchBody(
  request: IncomingMessage,
  reject: (problem: Problem) => void,
  after: After | undefined,
  onChunk: (bytes: number) => void = () => {},
): () => void {
  const unwatchChunks = watchChunks(request, { onChunk, onTooMany: () => reject(tooManyChunks) });
  const unwatchProgress = watchProgress(request.socket, () => reject(tooSlow), after);
  return () => {
    unwatchProgress();
    unwatchChunks();
  };
}

/** Discards the rest of a body that was already answered; the connection is kept while it arrives. */
export function drainBody(request: IncomingMessage, after: After | undefined): void {
  if (request.complete) return;
  const unwatch = watchBody(request, () => request.socket.destroy(), after);
  request.once('close', unwatch).once('end', unwatch);
  request.on('data', () => {}).resume();
}

export interface ChunkListener {
  onChunk(bytes: number): void;
  /** Too many chunks for so few bytes; called again for each further chunk. */
  onTooMany(): void;
}

/** Observes chunks once something else reads: a 'data' listener would itself start the flow and lose chunks. */
export function watchChunks(body: Readable, { onChunk, onTooMany }: ChunkListener): () => void {
  let [chunks, bytes] = [0, 0];
  const onData = (chunk: Buffer) => {
    chunks++;
    bytes += chunk.length;
    if (chunks > FREE_CHUNKS + bytes / MIN_AVERAGE_BYTES) return onTooMany();
    onChunk(chunk.length);
    if (chunks % CHUNKS_PER_SLICE !== 0) return;
    body.pause();
    setImmediate(() => body.resume());
  };
  const join = (event: string | symbol) => {
    if (event !== 'data') return;
    body.off('newListener', join);
    body.on('data', onData);
  };
  body.on('newListener', join);
  return () => body.off('newListener', join).off('data', onData);
}

function watchProgress(socket: Socket, onTooSlow: () => void, after: After = systemTimer): () => void {
  let countedBytes = socket.bytesRead;
  let pendingCheck: NodeJS.Immediate | undefined;
  let cancel = after(WINDOW_MS, scheduleCheck);

  // Data that arrived while this process was busy or suspended is read before the check.
  function scheduleCheck() {
    pendingCheck = setImmediate(check);
  }

  function check() {
    const bytes = socket.bytesRead - countedBytes;
    if (bytes < MIN_BYTES) return onTooSlow();
    countedBytes += bytes;
    cancel = after(WINDOW_MS, scheduleCheck);
  }

  return () => {
    cancel();
    clearImmediate(pendingCheck);
  };
}
