/** Rate limit by fixed windows, in memory, and quotas of routes. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Quota } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';

/** A rate limit by network of an address, or by any other text that identifies callers. */
export interface RateLimit {
  /** Counts one action; resolves with the milliseconds to wait if it exceeds the limit. */
  spend(address: string): Promise<number | undefined>;
  /** Takes back a counted action that had no effect. */
  refund(address: string): Promise<void>;
}

/** No limit. */
export const unlimited: RateLimit = {
  spend: async () => undefined,
  refund: async () => undefined,
};

/** Rate limit of a route, by network or by caller. Requests beyond it are answered 429. */
export type RouteQuota = QuotaScope & {
  /** Error message of requests beyond the limit. */
  readonly description: string;
};

type QuotaScope = ({ readonly perNetwork: RateLimit } | { readonly perCaller: RateLimit }) & {
  /** Name of the rejection, `<service>/<reason>`. */
  readonly rejected: string;
  readonly description?: string;
};

/**
 * Creates the quota that commands of a caller count towards.
 *
 * @param caller Any text that identifies the caller.
 */
export function quotaOf(quota: QuotaScope, address: string, caller = ''): Quota {
  const { rejected, description } = quota;
  const detail = description === undefined ? {} : { detail: description };
  const [limit, key] = 'perCaller' in quota ? [quota.perCaller, caller] : [quota.perNetwork, address];
  return {
    async spend() {
      const retryAfterMs = await limit.spend(key);
      return retryAfterMs === undefined ? undefined : { rejected, kind: 'limit', ...detail, retryAfterMs };
    },
    refund: () => limit.refund(key),
  };
}

export function createRateLimit(limit: number, perMs: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: limit, duration: perMs / 1000 });
  return {
    async spend(address) {
      try {
        await limiter.consume(networkOf(address));
        return undefined;
      } catch (error) {
        // The window ends by a timer, so the wait is bounded even if the clock was set back.
        if (error instanceof RateLimiterRes) return Math.min(error.msBeforeNext, perMs);
        throw error;
      }
    },
    async refund(address) {
      await limiter.reward(networkOf(address));
    },
  };
}
