/** Limits WebSocket connections per network: new ones per minute, and concurrent ones. */
import { networkOf } from '../server/client-address.js';
import { type Problem, problem } from '../server/problem.js';
import type { RateLimit } from '../server/rate-limit.js';

export interface SocketLimit {
  /** For `Route.admit`: counts a connection attempt, or returns the problem that refuses it. */
  admit(address: string): Promise<Problem | undefined>;
  /** Counts an open connection. Call the returned function once when it is closed. */
  trackConnection(address: string): () => void;
}

const OPEN_RETRY_MS = 60_000;

/** A network that tried too many unknown rooms has to wait; one at `maxOpen` spends nothing of its connection rate. */
export function createSocketLimit(
  connectRate: RateLimit,
  maxOpen: number,
  unknownRooms: Pick<RateLimit, 'wait'>,
): SocketLimit {
  const open = new Map<string, number>();
  return {
    async admit(address) {
      if ((open.get(networkOf(address)) ?? 0) >= maxOpen)
        return problem(429, 'Too many open connections from your address', {
          retryAfterMs: OPEN_RETRY_MS,
        });
      const retryAfterMs = unknownRooms.wait(address) || (await connectRate.spend(address));
      return retryAfterMs === undefined
        ? undefined
        : problem(429, 'Too many requests, try again later', { retryAfterMs });
    },
    trackConnection(address) {
      const network = networkOf(address);
      open.set(network, (open.get(network) ?? 0) + 1);
      return () => {
        const remaining = (open.get(network) ?? 1) - 1;
        if (remaining > 0) open.set(network, remaining);
        else open.delete(network);
      };
    },
  };
}
