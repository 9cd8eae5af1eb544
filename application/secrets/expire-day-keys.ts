/** Expires day keys: destroys each after its day, and with it the data that was to be readable for that day only. */
import type { ConfirmedClock, Vault } from '../ports/index.js';

export interface DayKeyPorts {
  readonly vault: Pick<Vault, 'destroy'>;
  readonly clock: ConfirmedClock;
  /** Returns the subject of a day's key; days are counted from 1970. */
  readonly subjectOf: (day: number) => string;
}

const DAY_MS = 86_400_000;
/** Milliseconds between runs. */
export const DAY_KEY_EXPIRY_EVERY_MS = 3_600_000;
/** Past days that are checked: as long as no node may have been running. */
const LOOKBACK_DAYS = 30;

export function createDayKeyExpiry({ vault, clock, subjectOf }: DayKeyPorts) {
  /** Day of the last key that this process has destroyed. */
  let lastDay = Number.NEGATIVE_INFINITY;
  return async (stop: AbortSignal): Promise<void> => {
    const now = await clock.confirmedNow();
    if (now === undefined || stop.aborted) return;
    const yesterday = Math.floor(now / DAY_MS) - 1;
    // Repeats yesterday: after an early run by a fast clock its key may have been created again.
    const first = Math.max(Math.min(lastDay + 1, yesterday), yesterday - LOOKBACK_DAYS);
    const days = Array.from({ length: yesterday - first + 1 }, (_, at) => first + at);
    await Promise.all(days.map((day) => vault.destroy(subjectOf(day))));
    lastDay = yesterday;
  };
}
