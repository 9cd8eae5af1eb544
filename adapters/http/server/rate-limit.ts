/** Rate limits by network, in memory, and quotas of routes. */
import {
  createRateLimiters,
  createSlidingWindow,
  createTokenBucket,
  type RateLimiter,
} from '../../../application/concurrency/index.js';
import type { Clock, Quota } from '../../../application/ports/index.js';
import { networkOf } from './client-address.js';

/** A rate limit by network of an address, or by any other text that identifies callers. */
export interface RateLimit {
  /** Returns the milliseconds until the next action is allowed, without counting one. */
  wait(address: string): number;
  /** Counts one action; resolves with the milliseconds to wait if it exceeds the limit. */
  spend(address: string): Promise<number | undefined>;
  /** Takes back a counted action that had no effect. */
  refund(address: string): Promise<void>;
}

const unlimited: RateLimit = {
  wait: () => 0,
  spend: async () => undefined,
  refund: async () => undefined,
};

/** Rate limit of a route, by network or by caller. Requests beyond it are answered 429. */
export type RouteQuota = ({ readonly perNetwork: RateLimit } | { readonly perCaller: RateLimit }) & {
  /** Name of the rejection, `<service>/<reason>`. */
  readonly rejected: string;
  readonly description: string;
};

/** Creates the quota that commands of a caller, identified by any text, count towards. */
export function quotaOf(quota: RouteQuota, address: string, caller = ''): Quota {
  const { rejected, description: detail } = quota;
  const [limit, key] = 'perCaller' in quota ? [quota.perCaller, caller] : [quota.perNetwork, address];
  return {
    async spend() {
      const retryAfterMs = await limit.spend(key);
      return retryAfterMs === undefined ? undefined : { rejected, kind: 'limit', detail, retryAfterMs };
    },
    refund: () => limit.refund(key),
  };
}

/** Creates one limiter per network. Rejected actions do not count. */
function limitNetworks(create: () => RateLimiter): RateLimit {
  const limiterOf = createRateLimiters(create);
  const wait = (address: string) => limiterOf(networkOf(address)).wait();
  return {
    wait,
    async spend(address) {
      const waitMs = wait(address);
      if (waitMs > 0) return waitMs;
      limiterOf(networkOf(address)).consume();
      return undefined;
    },
    async refund(address) {
      limiterOf(networkOf(address)).consume(-1);
    },
  };
}

/** Allows `limit` actions within any `perMs`; 0 means no limit. The clock is monotonic. */
export const createRateLimit = (limit: number, perMs: number, clock?: Clock): RateLimit =>
  limit === 0 ? unlimited : limitNetworks(() => createSlidingWindow(limit, perMs, clock));

/** Allows `perMinute` on average, and half of that in one burst; 0 means no limit. The clock is monotonic. */
export function createBurstLimit(perMinute: number, clock?: Clock): RateLimit {
  if (perMinute === 0) return unlimited;
  const options = { burst: Math.ceil(perMinute / 2), perSecond: perMinute / 60 };
  return limitNetworks(() => createTokenBucket(options, clock));
}
