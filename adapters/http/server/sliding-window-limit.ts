/** Counts what each caller does within the time just past, in this process's memory. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import type { RateLimit } from './rate-limit.js';

/** Of more networks than this within one window, those are forgotten that were longest idle. */
const NETWORKS = 50_000;

export interface SlidingLimit extends RateLimit {
  /** Milliseconds until one more may be counted; 0 if it may be now. Counts nothing. */
  wait(address: string): number;
}

/**
 * At most so many within any `perMs`: unlike a window that begins anew, it lets nobody do twice as much around its
 * edge. What is refused does not count. `clock`: one that only ever goes on.
 */
export function createSlidingLimit(most: number, perMs: number, clock: Clock = performance): SlidingLimit {
  /** By network: when each was, oldest first. */
  const done = new LRUCache<string, number[]>({ max: NETWORKS });
  const recent = (network: string, now: number) => (done.get(network) ?? []).filter((at) => now - at < perMs);
  const waitOf = (times: readonly number[], now: number) =>
    times.length >= most ? times[times.length - most]! + perMs - now : 0;
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
      done.set(network, [...times, now]);
      return undefined;
    },
    async refund(address) {
      const network = networkOf(address);
      const times = recent(network, clock.now()).slice(0, -1);
      if (times.length > 0) done.set(network, times);
      else done.delete(network);
    },
  };
}
