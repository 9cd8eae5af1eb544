/** How often one client may say something. */
import type { Clock } from '../../../application/ports/index.js';

/** Shorter ones move nothing from one second to the next that counts. */
const LEAST_HELD_MS = 100;
/** What was held up for longer did not come in all that time: its sender was not read, either. */
const MOST_HELD_MS = 10_000;

export interface Rate {
  /** `first`: too many in this second. `again`: and so it was in the second before, or it is twice too many. */
  next(): false | 'first' | 'again';
  /** For so many ms we answered nothing of what came: it is not counted as if it had come in the second after. */
  held(ms: number): void;
}

/** Counts in whole seconds. */
export function createRate(perSecond: number, clock: Clock): Rate {
  let [since, count, before, owed] = [clock.now(), 0, 0, 0];
  return {
    next() {
      const seconds = Math.floor((clock.now() - since) / 1000);
      if (seconds > 0) [since, before, count] = [since + seconds * 1000, seconds === 1 ? count : 0, 0];
      if (count >= perSecond && owed >= 1) {
        owed--;
        return false;
      }
      count++;
      if (count <= perSecond) return false;
      return before > perSecond || count > 2 * perSecond ? 'again' : 'first';
    },
    held(ms) {
      if (ms < LEAST_HELD_MS) return;
      owed = Math.min(owed + (perSecond * ms) / 1000, (perSecond * MOST_HELD_MS) / 1000);
    },
  };
}
