/** Sliding window: a rate limit that holds for any span of its length. */
import type { Clock } from '../ports/index.js';
import type { RateLimiter } from './rate-limiter.js';

/**
 * Allows `limit` actions within any `perMs`; a fixed window would allow double the number around its edge.
 *
 * @param clock Monotonic.
 */
export function createSlidingWindow(limit: number, perMs: number, clock: Clock = performance): RateLimiter {
  /** Times of actions, oldest first. */
  const times: number[] = [];
  function dropOld() {
    const now = clock.now();
    while (times[0] !== undefined && now - times[0] >= perMs) times.shift();
    return now;
  }
  return {
    wait(amount = 1) {
      const now = dropOld();
      const blocking = times[times.length + amount - limit - 1];
      return blocking === undefined ? 0 : blocking + perMs - now;
    },
    consume(amount = 1) {
      const now = dropOld();
      if (amount < 0) times.splice(amount);
      for (let n = 0; n < amount; n++) times.push(now);
    },
  };
}
