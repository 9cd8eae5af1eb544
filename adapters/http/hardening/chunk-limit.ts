/** The pieces in which a body comes: however small, they take turns with everybody else, and have a bound. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

/** Each costs the same, a byte or 64 KB: a megabyte of single bytes holds everybody up for seconds. */
const AT_ONCE = 500;
/** What many small writes of a client make, short lines among them, stays far below. */
const FEW = 2000;
const LEAST_BYTES = 16;

export interface Pieces {
  /** Of each piece that comes, its bytes. */
  told(bytes: number): void;
  /** There are far too many for so few bytes: told again with each further one. */
  tooMany(): void;
}

/**
 * Tells of all that comes, from when it begins to be read: a listener of its own would begin it, and lose some.
 * Returns what ends it.
 */
export function eachPiece(request: Readable, { told, tooMany }: Pieces): () => void {
  let [pieces, bytes] = [0, 0];
  const hear = (piece: Buffer) => {
    pieces++;
    bytes += piece.length;
    if (pieces > FEW + bytes / LEAST_BYTES) return tooMany();
    told(piece.length);
    if (pieces % AT_ONCE !== 0) return;
    request.pause();
    setImmediate(() => request.resume());
  };
  const join = (event: string | symbol) => {
    if (event !== 'data') return;
    request.off('newListener', join);
    request.on('data', hear);
  };
  request.on('newListener', join);
  return () => request.off('newListener', join).off('data', hear);
}

/** Lets the rest of a body pass unread; whoever sends it in crumbs is cut. */
export function letPass(request: IncomingMessage): void {
  eachPiece(request, { told: () => {}, tooMany: () => request.socket.destroy() });
  request.on('data', () => {}).resume();
}
