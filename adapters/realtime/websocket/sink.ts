/** A sink that writes to a WebSocket; the relay treats it like any other stream. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { encodedOnce, type Sink } from '../relay/sink.js';

/** Bytes after which the buffer is flushed early: unread data must be distinguishable from unsent data. */
const MAX_CORKED_BYTES = 16 * 1024;

/** Sinks to flush in this tick. One callback for all, since each costs as much as a short write. */
let corked: (() => void)[] = [];

function flushAll() {
  const all = corked;
  corked = [];
  for (const flush of all) flush();
}

/** Creates the sink of a WebSocket on the stream `network`. Writes are expensive: frames of one tick go out in one. */
export function socketSink(socket: WebSocket, network: Duplex): Sink {
  let isCorked = false;

  function cork() {
    if (isCorked) return;
    isCorked = true;
    network.cork();
    if (corked.push(flush) === 1) process.nextTick(flushAll);
  }

  function flush() {
    if (!isCorked) return;
    isCorked = false;
    network.uncork();
  }

  return {
    send(frame) {
      // Dropped: the socket is closing.
      if (socket.readyState !== socket.OPEN) return;
      cork();
      network.write(encode(frame));
      if (network.writableLength >= MAX_CORKED_BYTES) flush();
    },
    // The session sends pings.
    beat() {},
    buffered: () => socket.bufferedAmount,
    onDrain: (listener) => void network.on('drain', listener),
    end: (how, code = CLOSE.over) => closeSocket(socket, how === 'over' ? code : CLOSE.restart),
    cut: () => terminateSocket(socket),
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once('close', listener);
    },
  };
}

const FINAL_TEXT = 0x81;
/** Markers of a length in 16 or 64 bits. */
const [LENGTH_16, LENGTH_64] = [126, 127];

/** Encodes a text as one frame (RFC 6455, section 5.2). */
const encode = encodedOnce(({ json }) => {
  const length = Buffer.byteLength(json);
  const [lengthCode, start] = length < LENGTH_16 ? [length, 2] : length < 2 ** 16 ? [LENGTH_16, 4] : [LENGTH_64, 10];
  const bytes = Buffer.allocUnsafe(start + length);
  bytes[0] = FINAL_TEXT;
  bytes[1] = lengthCode;
  if (lengthCode === LENGTH_16) bytes.writeUInt16BE(length, 2);
  if (lengthCode === LENGTH_64) bytes.writeBigUInt64BE(BigInt(length), 2);
  bytes.write(json, start);
  return bytes;
});

/** https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number */
export const CLOSE = { over: 1000, policy: 1008, failed: 1011, restart: 1012, later: 1013 } as const;

/** Close code for an end without a close frame (RFC 6455, section 7.1.5). */
const NO_FRAME = 1006;

/** Close code by socket, of the first close from this side. */
const closeCodes = new WeakMap<WebSocket, number>();

export const isLocallyClosed = (socket: WebSocket): boolean => closeCodes.has(socket);

export const closeCodeOf = (socket: WebSocket): number | undefined => closeCodes.get(socket);

function recordClose(socket: WebSocket, code: number) {
  if (!closeCodes.has(socket)) closeCodes.set(socket, code);
}

/** Closes a socket once everything sent is delivered. */
export function closeSocket(socket: WebSocket, code: number, reason?: string): void {
  recordClose(socket, code);
  socket.close(code, reason);
}

export function terminateSocket(socket: WebSocket): void {
  recordClose(socket, NO_FRAME);
  socket.terminate();
}
