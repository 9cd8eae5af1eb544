/** Answers that their clients do not read stay in memory: not for ever, and not in any number. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface UnreadOptions {
  /** A client that has taken nothing of its answer for so long is cut. */
  readonly stalledMs?: number;
  /** Of all answers that wait to be read; beyond it those that have waited longest are cut. */
  readonly mostBytes?: number;
}

/** Give it every response before it is begun. */
export function boundUnread({
  stalledMs = 15_000,
  mostBytes = 256 * 1024 * 1024,
}: UnreadOptions = {}): (response: ServerResponse) => void {
  /** In the order in which they were answered. */
  const unread = new Map<Socket, number>();
  let sum = 0;

  const forget = (socket: Socket) => {
    sum -= unread.get(socket) ?? 0;
    unread.delete(socket);
  };

  return (response) => {
    response.once('prefinish', () => {
      const { socket } = response;
      const bytes = socket?.writableLength ?? 0;
      if (!socket || bytes === 0) return;
      // Of what it takes in pieces, each piece counts; what comes next on the connection has its own time again.
      socket.setTimeout(stalledMs);
      unread.set(socket, bytes);
      sum += bytes;
      response.once('close', () => forget(socket));
      for (const [oldest] of unread) {
        if (sum <= mostBytes || oldest === socket) break;
        forget(oldest);
        oldest.destroy();
      }
    });
  };
}
