/** Token bucket: a rate limit with a burst and a refill rate. */
import type { Clock } from '../ports/index.js';
import type { RateLimiter } from './rate-limiter.js';

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
