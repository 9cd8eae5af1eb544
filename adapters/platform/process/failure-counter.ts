/** Counts failures within a window, in this process's memory. */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Failures } from '../../../application/ports/index.js';

export function createFailures(perMs: number): Failures {
  // Each counter has a limit of its own.
  const limiter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: perMs / 1000 });
  return {
    async wait(counters) {
      const counted = await Promise.all(counters.map(({ key }) => limiter.get(key)));
      // The window ends by a timer, whatever a clock says that was set back meanwhile.
      const waits = counters.flatMap(({ most }, n) => {
        const found = counted[n];
        return found && found.consumedPoints >= most ? [Math.min(found.msBeforeNext, perMs)] : [];
      });
      return waits.length > 0 ? Math.max(...waits) : undefined;
    },
    async count(counters) {
      const counted = await Promise.all(counters.map(({ key }) => limiter.penalty(key)));
      return counters.filter(({ most }, n) => counted[n]?.consumedPoints === most);
    },
  };
}
