/** Token buckets: so much at once, refilled at so much a second. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports/index.js';

export interface Allowance {
  readonly atOnce: number;
  readonly perSecond: number;
}

export interface Pace {
  /** The ms after which there is so much of it; 0 where there is now. */
  wait(amount?: number): number;
  /** Used up, also what is not there yet: the next waits for it. */
  spend(amount?: number): void;
}

/** `clock`: one that only ever goes on. */
export function createPace({ atOnce, perSecond }: Allowance, clock: Clock = performance): Pace {
  let left = atOnce;
  let since = clock.now();
  function refill() {
    const now = clock.now();
    left = Math.min(atOnce, left + ((now - since) / 1000) * perSecond);
    since = now;
  }
  return {
    wait(amount = 1) {
      refill();
      return left >= amount ? 0 : ((amount - left) / perSecond) * 1000;
    },
    spend(amount = 1) {
      refill();
      left -= amount;
    },
  };
}

/** As slow as the slowest of them, and of each the same is spent. */
export const together = (...paces: readonly Pace[]): Pace => ({
  wait: (amount) => Math.max(...paces.map((each) => each.wait(amount))),
  spend(amount) {
    for (const each of paces) each.spend(amount);
  },
});

/** Of more, who was met longest ago begins anew. */
const KNOWN = 10_000;

/** One for each of many, by name. */
export function createPaces(allowance: Allowance, clock?: Clock | undefined): (name: string) => Pace {
  const paces = new LRUCache<string, Pace>({ max: KNOWN });
  return (name) => {
    const known = paces.get(name);
    if (known) return known;
    const made = createPace(allowance, clock);
    paces.set(name, made);
    return made;
  };
}
