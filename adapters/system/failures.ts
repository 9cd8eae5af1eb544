/** Counts failures within a window, in this process's memory. */
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Failures } from '../../application/identity-ports.js';

export function createFailures(most: number, perMs: number): Failures {
  const limiter = new RateLimiterMemory({ points: most, duration: perMs / 1000 });
  return {
    async wait(...whose) {
      const found = await Promise.all(whose.map((each) => limiter.get(each)));
      const over = found.filter((each) => each && each.consumedPoints >= most);
      // The window ends by a timer, whatever a clock says that was set back meanwhile.
      const waits = over.map((each) => Math.min(each!.msBeforeNext, perMs));
      return waits.length > 0 ? Math.max(...waits) : undefined;
    },
    async count(...whose) {
      const counted = await Promise.all(whose.map((each) => limiter.penalty(each)));
      return counted.some(({ consumedPoints }) => consumedPoints === most);
    },
  };
}
