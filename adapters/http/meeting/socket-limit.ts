/** Lets sockets in: so many a minute of one network, and so many at a time. */
import { networkOf } from '../../platform/config/client-address.js';
import { type Problem, problem } from '../server/problem.js';
import type { RateLimit } from '../server/rate-limit.js';
import type { SlidingLimit } from '../server/sliding-window-limit.js';

export interface SocketLimit {
  /** For `Route.admit`: counts one more that comes, or says why it may not. */
  admit(address: string): Promise<Problem | undefined>;
  /** To be called when it is open; and what this gives, once, when it is closed. */
  opened(address: string): () => void;
}

const OPEN_RETRY_MS = 60_000;

/**
 * `most`: at a time. Who has as many open spends nothing by asking for more. `unknownRooms`: attempts to join rooms
 * that do not exist; a network with too many of them waits.
 */
export function createSocketDoor(
  connectRate: RateLimit,
  maxOpen: number,
  unknownRooms: Pick<SlidingLimit, 'wait'>,
): SocketLimit {
  const open = new Map<string, number>();
  return {
    async admit(address) {
      if ((open.get(networkOf(address)) ?? 0) >= maxOpen)
        return problem(429, 'Too many connections are open from your address', {
          retryAfterMs: OPEN_RETRY_MS,
        });
      const retryAfterMs = unknownRooms.wait(address) || (await connectRate.spend(address));
      return retryAfterMs === undefined
        ? undefined
        : problem(429, 'Too many requests, try again later', { retryAfterMs });
    },
    opened(address) {
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
