/**
 * Clock-jump guard: pauses retention when the clock jumps ahead, until the jump has lasted (docs/guide/many-
 * nodes.md).
 */
import type { Clock, ConfirmedClock, Logger } from '../ports/index.js';

/** Milliseconds from which an advance counts as a jump; larger than any correction of a healthy clock. */
export const JUMP_MS = 86_400_000;
/** Milliseconds a jump must last before it is accepted; until then the clock may be corrected. */
export const CONFIRM_MS = 1_800_000;
/** Milliseconds between calls of retention jobs; lets a machine that runs less than an hour a day delete, too. */
export const ASK_EVERY_MS = CONFIRM_MS / 3;

/** Last note that any node has written to the event store. */
export interface TimestampRegister<Note extends object> {
  /** Returns the note and its Unix ms by the store's clock; undefined if there is none. */
  read(): Promise<(Note & { readonly at: number }) | undefined>;
  /** Replaces the note. */
  set(note: Note): Promise<void>;
}

/** A jump: last trusted time before it, Unix ms, and how long nodes have observed it, ms. */
export interface ClockJump {
  readonly since: number;
  readonly waitedMs: number;
}

export interface ClockJumpGuardOptions {
  readonly clock: ConfirmedClock;
  readonly believed: TimestampRegister<object>;
  readonly doubted: TimestampRegister<ClockJump>;
  readonly logger: Logger;
  /** Monotonic clock, ms. */
  readonly monotonic?: Clock;
}

export interface JumpGuardedClock extends ConfirmedClock {
  /** Milliseconds until a jump is accepted, as of the last `confirmedNow`; undefined without a jump. */
  pausedForMs(): number | undefined;
}

/**
 * Wraps a confirmed clock and withholds its time after a jump ahead. If the event store runs on the same machine, both
 * clocks are wrong together, and retention would delete days of data within a moment. Only time observed by a running
 * node counts, over all runs.
 */
export function createClockJumpGuard({
  clock,
  believed,
  doubted,
  logger,
  monotonic = performance,
}: ClockJumpGuardOptions): JumpGuardedClock {
  /** The jump observed last, and when, by the monotonic clock. */
  let observed: { readonly since: number; readonly at: number } | undefined;
  let waitsMs: number | undefined;

  /** Records a jump `since` a time; returns how long it was observed, ms. */
  async function recordJump(since: number, now: number): Promise<number> {
    const elapsed = observed?.since === since ? monotonic.now() - observed.at : 0;
    if (observed?.since !== since) logger.warn({ leapMs: now - since }, JUMPED);
    const note = await doubted.read();
    const before = note?.since === since ? note : { waitedMs: 0, at: now };
    // Time that another node has recorded meanwhile is not counted twice.
    const waitedMs = before.waitedMs + Math.max(0, Math.min(elapsed, now - before.at));
    await doubted.set({ since, waitedMs });
    observed = { since, at: monotonic.now() };
    return waitedMs;
  }

  return {
    now: clock.now,
    inSync: clock.inSync,
    pausedForMs: () => waitsMs,
    async confirmedNow() {
      const now = await clock.confirmedNow();
      if (now === undefined) return undefined;
      const since = (await believed.read())?.at ?? now;
      const remainingMs = now - since > JUMP_MS ? CONFIRM_MS - (await recordJump(since, now)) : 0;
      waitsMs = remainingMs > 0 ? remainingMs : undefined;
      if (waitsMs !== undefined) return undefined;
      await believed.set({});
      return now;
    },
  };
}

const JUMPED = 'clock jumped ahead by more than a day; correct it if it is wrong; retention is paused for 30 minutes';
