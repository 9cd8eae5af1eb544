/** Whose WebSocket was ended from here: of them nothing more is heard. Who goes by themselves has said what came before. */
import type { WebSocket } from 'ws';

const sentAway = new WeakSet<WebSocket>();

export const isSentAway = (socket: WebSocket): boolean => sentAway.has(socket);

/** Once all that was sent is delivered. */
export function sendAway(socket: WebSocket, code: number, reason?: string): void {
  sentAway.add(socket);
  socket.close(code, reason);
}

/** At once. */
export function cutOff(socket: WebSocket): void {
  sentAway.add(socket);
  socket.terminate();
}
