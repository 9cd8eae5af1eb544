/** Rate limit by token buckets, in memory. */
import { createTokenBuckets } from '../../../application/concurrency/index.js';
import type { Clock } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import { type RateLimit, unlimited } from './rate-limit.js';

/**
 * Allows `perMinute` on average, and half of that in one burst; 0 means no limit.
 *
 * @param clock Monotonic clock.
 */
export function createBurstLimit(perMinute: number, clock?: Clock): RateLimit {
  if (perMinute === 0) return unlimited;
  const bucketOf = createTokenBuckets({ burst: Math.ceil(perMinute / 2), perSecond: perMinute / 60 }, clock);
  return {
    async spend(address) {
      const bucket = bucketOf(networkOf(address));
      const waitMs = bucket.wait();
      if (waitMs > 0) return waitMs;
      bucket.consume();
      return undefined;
    },
    async refund(address) {
      bucketOf(networkOf(address)).consume(-1);
    },
  };
}
