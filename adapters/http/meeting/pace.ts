/** How fast one client changes a room: what it changes stands in the log for weeks, and is read whenever a node starts. */
import type { Clock } from '../../../application/ports.js';

/** So many changes at once, as a client makes that tries everything. */
export const CHANGES = 200;
/** And beyond them as many in a second: more than a hand can press. */
export const CHANGES_PER_SECOND = 2;

export interface Pace {
  /** The ms after which the next change may be made; 0 where it may be now. */
  wait(): number;
  /** One was made. */
  changed(): void;
}

/** `clock`: one that only ever goes on. */
export function createPace(clock: Clock = performance): Pace {
  let left = CHANGES;
  let since = clock.now();
  function refill() {
    const now = clock.now();
    left = Math.min(CHANGES, left + ((now - since) / 1000) * CHANGES_PER_SECOND);
    since = now;
  }
  return {
    wait() {
      refill();
      return left >= 1 ? 0 : ((1 - left) / CHANGES_PER_SECOND) * 1000;
    },
    changed() {
      refill();
      left--;
    },
  };
}
