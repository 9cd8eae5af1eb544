/** Rate limiters: token buckets and sliding windows, alone, combined and by name. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/index.js';

export interface RateLimiter {
  /** Returns the milliseconds until `amount` actions are allowed; 0 if they are now. */
  wait(amount?: number): number;
  /** Counts actions, allowed or not; a negative amount takes back the newest. */
  consume(amount?: number): void;
  /** Returns the milliseconds after which it is like a new one, if nothing is consumed until then. */
  idleMs(): number;
}

/** Combines limiters into one that waits for the slowest and consumes from all. */
export const combine = (...limiters: readonly RateLimiter[]): RateLimiter => ({
  wait: (amount) => Math.max(...limiters.map((limiter) => limiter.wait(amount))),
  consume(amount) {
    for (const limiter of limiters) limiter.consume(amount);
  },
  idleMs: () => Math.max(...limiters.map((limiter) => limiter.idleMs())),
});

export interface TokenBucketOptions {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Creates a full bucket. It may go below zero; the next caller waits longer then.
 *
 * @param clock Monotonic.
 */
export function createTokenBucket({ burst, perSecond }: TokenBucketOptions, clock: Clock = performance): RateLimiter {
  let tokens = burst;
  let refilledAt = clock.now();
  function refill() {
    const now = clock.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond);
    refilledAt = now;
  }
  const msUntil = (amount: number) => {
    refill();
    return tokens >= amount ? 0 : ((amount - tokens) / perSecond) * 1000;
  };
  return {
    wait: (amount = 1) => msUntil(amount),
    consume(amount = 1) {
      refill();
      tokens -= amount;
    },
    idleMs: () => msUntil(burst),
  };
}

/**
 * Allows `limit` actions within any `perMs`; a fixed window would allow double the number around its edge.
 *
 * @param clock Monotonic.
 */
export function createSlidingWindow(limit: number, perMs: number, clock: Clock = performance): RateLimiter {
  /** Times of actions, oldest first. */
  const times: number[] = [];
  function dropOld() {
    const now = clock.now();
    while (times[0] !== undefined && now - times[0] >= perMs) times.shift();
    return now;
  }
  return {
    wait(amount = 1) {
      const now = dropOld();
      const blocking = times[times.length + amount - limit - 1];
      return blocking === undefined ? 0 : blocking + perMs - now;
    },
    consume(amount = 1) {
      const now = dropOld();
      if (amount < 0) times.splice(amount);
      for (let n = 0; n < amount; n++) times.push(now);
    },
    idleMs() {
      const now = dropOld();
      return (times.at(-1) ?? now - perMs) + perMs - now;
    },
  };
}

/** Limiters in memory; beyond that the least recently used one starts anew. */
const MAX_LIMITERS = 50_000;
/** Actions between removals of idle limiters. */
const PURGE_EVERY = 1000;

/** Creates one limiter per name. Only `consume` stores it: refused requests with new names must not evict others. */
export function createRateLimiters(create: () => RateLimiter): (name: string) => RateLimiter {
  // `max` would allocate room for all of them at the start, 1.5 MB for each use.
  const limiters = new LRUCache<string, RateLimiter>({ maxSize: MAX_LIMITERS, sizeCalculation: () => 1 });
  const limiterOf = (name: string) => limiters.get(name) ?? create();
  let actions = 0;
  return (name) => ({
    wait: (amount) => limiterOf(name).wait(amount),
    idleMs: () => limiterOf(name).idleMs(),
    consume(amount) {
      const limiter = limiterOf(name);
      limiter.consume(amount);
      // 0 would mean forever.
      limiters.set(name, limiter, { ttl: Math.ceil(limiter.idleMs()) + 1 });
      if (++actions % PURGE_EVERY === 0) limiters.purgeStale();
    },
  });
}
