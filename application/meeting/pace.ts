/** How fast something may go on in meetings: some of it at once, and beyond that so much in a second. */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../ports.js';

export interface Allowance {
  readonly atOnce: number;
  readonly perSecond: number;
}

/**
 * Changes of a room by one client: what it changes stands in the log for weeks, and is read whenever a node starts. So
 * many as a client makes that tries everything; then more than a hand can press.
 */
export const CHANGES: Allowance = { atOnce: 200, perSecond: 2 };

/** The same by one network, over however many connections: as many as come together, and a crowd makes that stays. */
export const CHANGES_OF_NETWORK: Allowance = { atOnce: 20_000, perSecond: 20 };

/** Bytes of chat and reactions of one network, with what each takes in the log besides: kept for a day. */
export const TALK: Allowance = { atOnce: 32 * 1024 * 1024, perSecond: 128 * 1024 };

/** Bytes of offers, answers and candidates that one person is told whether or not they read them. */
export const TOLD: Allowance = { atOnce: 256 * 1024, perSecond: 32 * 1024 };

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
