/** Rate limiters, alone, combined and by name. */
import { LRUCache } from 'lru-cache';

export interface RateLimiter {
  /** Returns the milliseconds until `amount` actions are allowed; 0 if they are now. */
  wait(amount?: number): number;
  /** Counts actions, allowed or not; a negative amount takes back the newest. */
  consume(amount?: number): void;
}

/** Combines limiters into one that waits for the slowest and consumes from all. */
export const combine = (...limiters: readonly RateLimiter[]): RateLimiter => ({
  wait: (amount) => Math.max(...limiters.map((limiter) => limiter.wait(amount))),
  consume(amount) {
    for (const limiter of limiters) limiter.consume(amount);
  },
});

/** Limiters in memory; beyond that the least recently used one starts anew. */
const MAX_LIMITERS = 50_000;

/** Creates one limiter per name. Only `consume` stores it: refused requests with new names must not evict others. */
export function createRateLimiters(create: () => RateLimiter): (name: string) => RateLimiter {
  // `max` would allocate room for all of them at the start, 1.5 MB for each use.
  const limiters = new LRUCache<string, RateLimiter>({
    maxSize: MAX_LIMITERS,
    sizeCalculation: () => 1,
    memoMethod: create,
  });
  return (name) => ({
    wait: (amount) => (limiters.get(name) ?? create()).wait(amount),
    consume: (amount) => limiters.memo(name).consume(amount),
  });
}
