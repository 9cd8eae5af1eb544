/**
 * Tracks WebSockets that this side closed: their further messages are ignored. Messages before a client's own
 * close still count.
 */
import type { WebSocket } from 'ws';

/** Close code for an end without a close frame (RFC 6455, section 7.1.5). */
const NO_FRAME = 1006;

/** Close code by socket, of the first close from this side. */
const closeCodes = new WeakMap<WebSocket, number>();

export const isClosedHere = (socket: WebSocket): boolean => closeCodes.has(socket);

/** Returns the close code with which this side ended a socket. */
export const closeCodeOf = (socket: WebSocket): number | undefined => closeCodes.get(socket);

function recordClose(socket: WebSocket, code: number) {
  if (!closeCodes.has(socket)) closeCodes.set(socket, code);
}

/** Closes a socket once everything sent is delivered. */
export function closeSocket(socket: WebSocket, code: number, reason?: string): void {
  recordClose(socket, code);
  socket.close(code, reason);
}

/** Terminates a socket immediately. */
export function terminateSocket(socket: WebSocket): void {
  recordClose(socket, NO_FRAME);
  socket.terminate();
}
