/** Rate limit by sliding windows, in memory. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import type { RateLimit } from './rate-limit.js';

/** Maximum tracked networks; the least recently used are dropped. */
const MAX_NETWORKS = 50_000;

export interface SlidingLimit extends RateLimit {
  /** Milliseconds until the next action is allowed, without counting one. */
  wait(address: string): number;
}

/**
 * Allows `limit` actions within any `perMs`; a fixed window would allow double the number around its edge. Rejected actions
 * do not count.
 *
 * @param clock Monotonic clock.
 */
export function createSlidingLimit(limit: number, perMs: number, clock: Clock = performance): SlidingLimit {
  /** Times of actions by network, oldest first. */
  const timesByNetwork = new LRUCache<string, number[]>({ max: MAX_NETWORKS });
  const recent = (network: string, now: number) => (timesByNetwork.get(network) ?? []).filter((at) => now - at < perMs);
  const waitOf = (times: readonly number[], now: number) =>
    times.length >= limit ? times[times.length - limit]! + perMs - now : 0;
  return {
    wait(address) {
      const now = clock.now();
      return waitOf(recent(networkOf(address), now), now);
    },
    async spend(address) {
      const network = networkOf(address);
      const now = clock.now();
      const times = recent(network, now);
      const wait = waitOf(times, now);
      if (wait > 0) return wait;
      timesByNetwork.set(network, [...times, now]);
      return undefined;
    },
    async refund(address) {
      const network = networkOf(address);
      const times = recent(network, clock.now()).slice(0, -1);
      if (times.length > 0) timesByNetwork.set(network, times);
      else timesByNetwork.delete(network);
    },
  };
}
