/** Counts what each caller does within a window, in this process's memory. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Quota } from '../../../application/ports/index.js';
import { networkOf } from '../../platform/config/client-address.js';

/** By the network of an address, or by any other text that tells callers apart. */
export interface RateLimit {
  /** Counts one more; the milliseconds to wait when it is one too many, else undefined. */
  spend(address: string): Promise<number | undefined>;
  /** One that was counted came to nothing. */
  refund(address: string): Promise<void>;
}

/** Lets everything through. */
export const unlimited: RateLimit = {
  spend: async () => undefined,
  refund: async () => undefined,
};

/** How often a route lets something be done: so many from one network, or of one caller, in so long; one too many is 429. */
export type RouteQuota = QuotaScope & {
  /** What one too many is told. */
  readonly description: string;
};

type QuotaScope = ({ readonly perNetwork: RateLimit } | { readonly perCaller: RateLimit }) & {
  /** The rejection of one too many, `<service>/<reason>`. */
  readonly rejected: string;
  readonly description?: string;
};

/** What the commands of one caller count towards. `caller`: any text that tells callers apart. */
export function quotaOf(quota: QuotaScope, address: string, caller = ''): Quota {
  const { rejected, description } = quota;
  const told = description === undefined ? {} : { detail: description };
  const [limit, whose] = 'perCaller' in quota ? [quota.perCaller, caller] : [quota.perNetwork, address];
  return {
    async spend() {
      const retryAfterMs = await limit.spend(whose);
      return retryAfterMs === undefined ? undefined : { rejected, kind: 'limit', ...told, retryAfterMs };
    },
    refund: () => limit.refund(whose),
  };
}

export function createRateLimit(most: number, perMs: number): RateLimit {
  const limiter = new RateLimiterMemory({ points: most, duration: perMs / 1000 });
  return {
    async spend(address) {
      try {
        await limiter.consume(networkOf(address));
        return undefined;
      } catch (refusal) {
        // The window ends by a timer, whatever a clock says that was set back meanwhile.
        if (refusal instanceof RateLimiterRes) return Math.min(refusal.msBeforeNext, perMs);
        throw refusal;
      }
    },
    async refund(address) {
      await limiter.reward(networkOf(address));
    },
  };
}
