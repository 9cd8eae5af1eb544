/** A clock by which what was kept for days is let go: a leap ahead has to last before it is believed (docs/guide/many-nodes.md). */
import type { Clock, ConfirmedClock, Logger } from '../ports/index.js';

/** By so much no clock is set that was right, ms; a node may have been away as long. */
export const LEAP_MS = 86_400_000;
/** So long a leap lasts before it is believed, ms: until then the clock may be set right again. */
export const LASTS_MS = 1_800_000;
/** So often whoever lets go asks for the time, ms: a machine that runs for less than an hour a day lets go, too. */
export const ASK_EVERY_MS = LASTS_MS / 3;

/** What was noted at the store last, on whatever node. */
export interface TimeMark<Note extends object> {
  /** With when it was noted, Unix ms by the store; undefined where nothing ever was. Rejects with `Unavailable`. */
  read(): Promise<(Note & { readonly at: number }) | undefined>;
  /** It is noted now. Rejects with `Unavailable`. */
  set(note: Note): Promise<void>;
}

/** Of a leap: when the time was believed last before it, Unix ms, and how long somebody has waited for it to last, ms. */
export interface Doubt {
  readonly since: number;
  readonly waitedMs: number;
}

export interface LastingOptions {
  readonly clock: ConfirmedClock;
  readonly believed: TimeMark<object>;
  readonly doubted: TimeMark<Doubt>;
  readonly logger: Logger;
  /** Only ever goes on, in ms from anywhere. */
  readonly monotonic?: Clock;
}

export interface LastingClock extends ConfirmedClock {
  /** How long a leap has yet to last, ms, as it was when the time was asked for last; undefined where there was none. */
  waitsMs(): number | undefined;
}

/**
 * The certain time of a clock, and none for a while after it has leapt ahead: where the store is on the same machine,
 * both are wrong together, and all that is kept for some days would be gone within a moment. Only time in which somebody
 * was there to see it counts, of all runs together.
 */
export function createClockJumpGuard({
  clock,
  believed,
  doubted,
  logger,
  monotonic = performance,
}: LastingOptions): LastingClock {
  /** The leap that was seen last, and when, by the monotonic clock. */
  let seen: { readonly since: number; readonly at: number } | undefined;
  let waitsMs: number | undefined;

  /** Notes that there is a leap `since` a time; how long it has lasted, ms. */
  async function waited(since: number, now: number): Promise<number> {
    const passed = seen?.since === since ? monotonic.now() - seen.at : 0;
    if (seen?.since !== since) logger.warn({ leapMs: now - since }, LEAPT);
    const told = await doubted.read();
    const before = told?.since === since ? told : { waitedMs: 0, at: now };
    // What another node has noted meanwhile is not counted twice.
    const waitedMs = before.waitedMs + Math.max(0, Math.min(passed, now - before.at));
    await doubted.set({ since, waitedMs });
    seen = { since, at: monotonic.now() };
    return waitedMs;
  }

  return {
    now: clock.now,
    inSync: clock.inSync,
    waitsMs: () => waitsMs,
    async confirmedNow() {
      const now = await clock.confirmedNow();
      if (now === undefined) return undefined;
      const since = (await believed.read())?.at ?? now;
      const leftMs = now - since > LEAP_MS ? LASTS_MS - (await waited(since, now)) : 0;
      waitsMs = leftMs > 0 ? leftMs : undefined;
      if (waitsMs !== undefined) return undefined;
      await believed.set({});
      return now;
    },
  };
}

const LEAPT =
  'the time has gone on by more than a day since it was believed last: if the clock is wrong, set it right; what is kept for days is let go no sooner than in half an hour';
