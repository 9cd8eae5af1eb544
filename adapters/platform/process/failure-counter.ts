/** Counts failures within a time window, in this process's memory. */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Failures } from '../../../application/ports/index.js';

export function createFailureCounter(perMs: number): Failures {
  // No common limit: each counter has its own.
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: perMs / 1000 });
  return {
    async wait(counters) {
      const results = await Promise.all(counters.map(({ key }) => limiter.get(key)));
      // Capped: the window ends by a timer even if the clock was set back.
      const waitMs = counters.flatMap(({ most }, n) => {
        const result = results[n];
        return result && result.consumedPoints >= most ? [Math.min(result.msBeforeNext, perMs)] : [];
      });
      return waitMs.length > 0 ? Math.max(...waitMs) : undefined;
    },
    async count(counters) {
      const results = await Promise.all(counters.map(({ key }) => limiter.penalty(key)));
      return counters.filter(({ most }, n) => results[n]?.consumedPoints === most);
    },
  };
}
