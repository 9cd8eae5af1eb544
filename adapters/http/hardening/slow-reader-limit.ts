/** Limits the memory of responses that clients are slow to read, or do not read at all. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Budget, Reservation } from '../../../application/concurrency/index.js';

export interface UnreadOptions {
  /** Bytes of all responses that are not read yet. */
  readonly budget: Budget;
  /** Returns the network of the client of a response. */
  readonly networkOf: (response: ServerResponse) => string;
  /** A client that reads nothing for this long is disconnected. */
  readonly stalledMs?: number;
}

interface UnreadResponse {
  readonly network: string;
  readonly reservation: Reservation;
}

/**
 * Creates a function to be called with every response before it is sent. When the budget is used up, the oldest unread
 * responses are dropped: those of the same network if it has used its share, otherwise of any.
 */
export function limitUnreadResponses({
  budget,
  networkOf,
  stalledMs = 15_000,
}: UnreadOptions): (response: ServerResponse) => void {
  /** Oldest first. */
  const unread = new Map<Socket, UnreadResponse>();

  const forget = (socket: Socket) => {
    unread.get(socket)?.reservation.release();
    unread.delete(socket);
  };

  /** Disconnects the client of the oldest matching response; false if there is none. */
  function dropOldest(matches: (response: UnreadResponse) => boolean): boolean {
    for (const [socket, response] of unread) {
      if (!matches(response)) continue;
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
      // Restarts with every chunk the client reads, and with the next request of the connection.
      socket.setTimeout(stalledMs);
      const network = networkOf(response);
      const reservation = budget.reserve(network);
      for (let shortage = reservation.acquire(bytes); shortage; shortage = reservation.acquire(bytes)) {
        const matches = shortage === 'share' ? (other: UnreadResponse) => other.network === network : () => true;
        if (!dropOldest(matches)) break;
      }
      unread.set(socket, { network, reservation });
      response.once('close', () => forget(socket));
    });
  };
}
