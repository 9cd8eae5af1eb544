/** Token buckets: rate limits with a burst and a refill rate. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/index.js';

export interface TokenBucketOptions {
  readonly burst: number;
  readonly perSecond: number;
}

export interface TokenBucket {
  /** Returns the milliseconds until `amount` tokens are available; 0 if they are now. */
  wait(amount?: number): number;
  /** Consumes tokens. The bucket may go below zero; the next caller waits longer then. */
  consume(amount?: number): void;
}

/** @param clock Monotonic. */
export function createTokenBucket({ burst, perSecond }: TokenBucketOptions, clock: Clock = performance): TokenBucket {
  let tokens = burst;
  let refilledAt = clock.now();
  function refill() {
    const now = clock.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond);
    refilledAt = now;
  }
  return {
    wait(amount = 1) {
      refill();
      return tokens >= amount ? 0 : ((amount - tokens) / perSecond) * 1000;
    },
    consume(amount = 1) {
      refill();
      tokens -= amount;
    },
  };
}

/** Combines buckets into one that waits for the slowest and consumes from all. */
export const combine = (...buckets: readonly TokenBucket[]): TokenBucket => ({
  wait: (amount) => Math.max(...buckets.map((bucket) => bucket.wait(amount))),
  consume(amount) {
    for (const bucket of buckets) bucket.consume(amount);
  },
});

/** Buckets in memory; beyond that the least recently used one starts again with a full burst. */
const MAX_BUCKETS = 10_000;

/** Creates one bucket per name. */
export function createTokenBuckets(
  options: TokenBucketOptions,
  clock?: Clock | undefined,
): (name: string) => TokenBucket {
  const buckets = new LRUCache<string, TokenBucket>({ max: MAX_BUCKETS });
  return (name) => {
    const existing = buckets.get(name);
    if (existing) return existing;
    const bucket = createTokenBucket(options, clock);
    buckets.set(name, bucket);
    return bucket;
  };
}
