/** Which WebSockets were ended from here, and how: of them nothing more is heard. Who goes by themselves has said what came before. */
import type { WebSocket } from 'ws';

/** Ended without a close frame (RFC 6455, section 7.1.5). */
const NO_FRAME = 1006;

/** By socket, the close code it was ended with first. */
const sentAway = new WeakMap<WebSocket, number>();

export const isSentAway = (socket: WebSocket): boolean => sentAway.has(socket);

/** The close code with which a socket was ended from here. */
export const sentAwayWith = (socket: WebSocket): number | undefined => sentAway.get(socket);

function note(socket: WebSocket, code: number) {
  if (!sentAway.has(socket)) sentAway.set(socket, code);
}

/** Once all that was sent is delivered. */
export function sendAway(socket: WebSocket, code: number, reason?: string): void {
  note(socket, code);
  socket.close(code, reason);
}

/** At once. */
export function cutOff(socket: WebSocket): void {
  note(socket, NO_FRAME);
  socket.terminate();
}
