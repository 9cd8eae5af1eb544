/** Answers that their clients do not read stay in memory: not for ever, and not in any number. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Budget, Reservation } from '../../../application/concurrency/index.js';

export interface UnreadOptions {
  /** Of all answers that wait to be read, in bytes. */
  readonly budget: Budget;
  /** The network of the client that is answered. */
  readonly whose: (response: ServerResponse) => string;
  /** A client that has taken nothing of its answer for so long is cut. */
  readonly stalledMs?: number;
}

interface Unread {
  readonly whose: string;
  readonly held: Reservation;
}

/**
 * Give it every response before it is begun. Where nothing is left for an answer, those that have waited longest are
 * cut: of its own network where that has had its share, else of all.
 */
export function boundUnread({
  budget,
  whose: whoseOf,
  stalledMs = 15_000,
}: UnreadOptions): (response: ServerResponse) => void {
  /** In the order in which they were answered. */
  const unread = new Map<Socket, Unread>();

  const forget = (socket: Socket) => {
    unread.get(socket)?.held.release();
    unread.delete(socket);
  };

  /** False when there is nothing to cut. */
  function cutOldest(isOne: (answer: Unread) => boolean): boolean {
    for (const [socket, answer] of unread) {
      if (!isOne(answer)) continue;
      forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  return (response) => {
    response.once('prefinish', () => {
      const { socket } = response;
      const bytes = socket?.writableLength ?? 0;
      if (!socket || bytes === 0) return;
      // Of what it takes in pieces, each piece counts; what comes next on the connection has its own time again.
      socket.setTimeout(stalledMs);
      const whose = whoseOf(response);
      const held = budget.reserve(whose);
      for (let lack = held.acquire(bytes); lack; lack = held.acquire(bytes)) {
        const isOne = lack === 'share' ? (other: Unread) => other.whose === whose : () => true;
        if (!cutOldest(isOne)) break;
      }
      unread.set(socket, { whose, held });
      response.once('close', () => forget(socket));
    });
  };
}
