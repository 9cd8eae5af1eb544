/** Limits the messages per second of one client. */
import type { Clock } from '../../../application/ports/index.js';

/** Shorter pauses are ignored: they hardly move messages to another second. */
const MIN_PAUSE_MS = 100;
/** Longest pause that counts. The sender was not read during a longer one. */
const MAX_PAUSE_MS = 10_000;

export interface Rate {
  /**
   * Counts a message. `first`: over the limit in this second. `again`: over the limit in the second before too,
   * or twice over it.
   */
  next(): false | 'first' | 'again';
  /** Reports that messages were held up for some ms, so that they do not count for the second after. */
  held(ms: number): void;
}

/** Creates a limiter that counts in whole seconds. */
export function createRate(perSecond: number, clock: Clock): Rate {
  let [since, count, previousCount, credit] = [clock.now(), 0, 0, 0];
  return {
    next() {
      const seconds = Math.floor((clock.now() - since) / 1000);
      if (seconds > 0) [since, previousCount, count] = [since + seconds * 1000, seconds === 1 ? count : 0, 0];
      if (count >= perSecond && credit >= 1) {
        credit--;
        return false;
      }
      count++;
      if (count <= perSecond) return false;
      return previousCount > perSecond || count > 2 * perSecond ? 'again' : 'first';
    },
    held(ms) {
      if (ms < MIN_PAUSE_MS) return;
      credit = Math.min(credit + (perSecond * ms) / 1000, (perSecond * MAX_PAUSE_MS) / 1000);
    },
  };
}
