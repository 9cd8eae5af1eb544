/** Ends keys that are each of a day, once it is over: with them goes what was sealed to be known no longer than that. */
import type { ConfirmedClock, Vault } from '../ports/index.js';

export interface DayKeyPorts {
  readonly vault: Pick<Vault, 'destroy'>;
  readonly clock: ConfirmedClock;
  /** Whose key is that of a day, counted from 1970. */
  readonly subjectOf: (day: number) => string;
}

const DAY_MS = 86_400_000;
export const DAY_KEYS_EVERY_MS = 3_600_000;
/** Days that are looked back on: for so long no node may have run. */
const DAYS = 30;

export function createDayKeyExpiry({ vault, clock, subjectOf }: DayKeyPorts) {
  /** Of these days it was done already by this process. */
  let done = Number.NEGATIVE_INFINITY;
  return async (stop: AbortSignal): Promise<void> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const yesterday = Math.floor(now / DAY_MS) - 1;
    // Again for a day: a clock that was ahead may have ended some that then came, with keys that were made anew.
    done = Math.min(done, yesterday - 1);
    for (let day = Math.max(done + 1, yesterday - DAYS); day <= yesterday && !stop.aborted; day++) {
      await vault.destroy(subjectOf(day));
      done = day;
    }
  };
}
