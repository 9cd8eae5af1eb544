/** A clock by which what was kept for days is let go: a leap ahead has to last before it is believed (docs/nodes.md). */
import type { CertainClock, Clock, Logger } from './ports.js';

/** By so much no clock is set that was right, ms; a node may have been away as long. */
export const LEAP_MS = 86_400_000;
/** So long a leap lasts before it is believed, ms: until then the clock may be set right again. */
export const LASTS_MS = 1_800_000;
/** So often whoever lets go asks for the time, ms: a machine that runs for less than an hour a day lets go, too. */
export const ASK_EVERY_MS = LASTS_MS / 3;

/** The store's mark of when the time was believed last, on whatever node. */
export interface TimeMark {
  /** Unix ms by the store; undefined where there never was one. Rejects with `Unavailable`. */
  read(): Promise<number | undefined>;
  /** It is now. Rejects with `Unavailable`. */
  set(): Promise<void>;
}

export interface LastingOptions {
  readonly clock: CertainClock;
  readonly mark: TimeMark;
  readonly logger: Logger;
  /** Only ever goes on, in ms from anywhere. */
  readonly monotonic?: Clock;
}

/**
 * The certain time of a clock, and none for a while after it has leapt ahead: where the store is on the same machine,
 * both are wrong together, and all that is kept for some days would be gone within a moment.
 */
export function createLasting({
  clock,
  mark,
  logger,
  monotonic = performance,
}: LastingOptions): CertainClock {
  /** When it was noticed. */
  let leaptAt: number | undefined;

  function isToLast(leapMs: number): boolean {
    if (leapMs <= LEAP_MS) {
      leaptAt = undefined;
      return false;
    }
    if (leaptAt === undefined) logger.warn({ leapMs }, LEAPT);
    leaptAt ??= monotonic.now();
    return monotonic.now() - leaptAt < LASTS_MS;
  }

  return {
    now: clock.now,
    agrees: clock.agrees,
    async certain() {
      const now = await clock.certain();
      if (now === undefined || isToLast(now - ((await mark.read()) ?? now))) return undefined;
      await mark.set();
      return now;
    },
  };
}

const LEAPT =
  'the time has gone on by more than a day since it was believed last: if the clock is wrong, set it right; what is kept for days is let go no sooner than in half an hour';
