/** Counts what each key does within a window, in this process's memory. */
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts one more; the milliseconds to wait when it is one too many, else undefined. */
export type Limit = (key: string) => Promise<number | undefined>;

export function createLimit(most: number, perMs: number): Limit {
  const limiter = new RateLimiterMemory({ points: most, duration: perMs / 1000 });
  return async (key) => {
    try {
      await limiter.consume(key);
      return undefined;
    } catch (refusal) {
      if (refusal instanceof RateLimiterRes) return refusal.msBeforeNext;
      throw refusal;
    }
  };
}
