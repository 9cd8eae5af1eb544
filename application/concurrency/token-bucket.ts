/** Token buckets: so much at once, refilled at so much a second. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/index.js';

export interface TokenBucketOptions {
  readonly burst: number;
  readonly perSecond: number;
}

export interface TokenBucket {
  /** The ms after which there is so much of it; 0 where there is now. */
  wait(amount?: number): number;
  /** Used up, also what is not there yet: the next waits for it. */
  consume(amount?: number): void;
}

/** `clock`: one that only ever goes on. */
export function createTokenBucket({ burst, perSecond }: TokenBucketOptions, clock: Clock = performance): TokenBucket {
  let left = burst;
  let since = clock.now();
  function refill() {
    const now = clock.now();
    left = Math.min(burst, left + ((now - since) / 1000) * perSecond);
    since = now;
  }
  return {
    wait(amount = 1) {
      refill();
      return left >= amount ? 0 : ((amount - left) / perSecond) * 1000;
    },
    consume(amount = 1) {
      refill();
      left -= amount;
    },
  };
}

/** As slow as the slowest of them, and of each the same is spent. */
export const combine = (...paces: readonly TokenBucket[]): TokenBucket => ({
  wait: (amount) => Math.max(...paces.map((each) => each.wait(amount))),
  consume(amount) {
    for (const each of paces) each.consume(amount);
  },
});

/** Of more, who was met longest ago begins anew. */
const KNOWN = 10_000;

/** One for each of many, by name. */
export function createTokenBuckets(
  allowance: TokenBucketOptions,
  clock?: Clock | undefined,
): (name: string) => TokenBucket {
  const paces = new LRUCache<string, TokenBucket>({ max: KNOWN });
  return (name) => {
    const known = paces.get(name);
    if (known) return known;
    const made = createTokenBucket(allowance, clock);
    paces.set(name, made);
    return made;
  };
}
