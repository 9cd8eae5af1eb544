/** A machine's clock held against the event store's: a wrong one ends and stamps nothing (docs/nodes.md). */
import type { CertainClock, Clock, Logger } from '../ports/index.js';

/** Clocks no further apart than this count as one, ms: those that are kept right are within a second. */
const APART_MS = 120_000;
/** While they stay apart as they were, the store is asked no more often. */
const ASK_EVERY_MS = 60_000;
/** And never more often than that. */
const ASK_AGAIN_MS = 1000;

export interface StoreClockOptions {
  /** The store's time, Unix ms, when it took something that was written for this; rejects with `Unavailable`. */
  readonly ask: () => Promise<number>;
  readonly logger: Logger;
  /** Of this machine; it may be wrong, and be set at any moment. */
  readonly clock?: Clock;
  /** Only ever goes on, in ms from anywhere. */
  readonly monotonic?: Clock;
}

export interface StoreClock extends CertainClock {
  /** Asks the store; until then this machine's clock is believed. Rejects with `Unavailable`. */
  compare(): Promise<void>;
  /** How far this machine's clock is ahead of the store's, in ms, negative when behind; undefined when never asked. */
  ahead(): number | undefined;
}

/**
 * The store's clock is known from its last answer and the time that has passed since, so that a clock which is set
 * meanwhile is noticed at once. It is the earliest that the store's can be: an answer takes its time to arrive.
 */
export function createStoreClock({
  ask,
  logger,
  clock = Date,
  monotonic = performance,
}: StoreClockOptions): StoreClock {
  let answer: { readonly time: number; readonly at: number; readonly ahead: number } | undefined;
  let asking: Promise<void> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isTold = false;

  const passed = () => (answer ? monotonic.now() - answer.at : Number.POSITIVE_INFINITY);
  const ahead = () => answer && Math.round(clock.now() - answer.time - passed());
  const isApart = () => Math.abs(ahead() ?? 0) > APART_MS;

  /** This clock was set since the answer; the store's may have been set with it, where both are of one machine. */
  const wasSet = () => answer !== undefined && Math.abs((ahead() ?? 0) - answer.ahead) > APART_MS;

  const compare = () => {
    if (!asking) askedAt = monotonic.now();
    asking ??= ask()
      .then((time) => {
        answer = { time, at: monotonic.now(), ahead: clock.now() - time };
        tell();
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };

  function tell() {
    if (isApart() === isTold) return;
    isTold = !isTold;
    if (isTold) logger.warn({ aheadMs: ahead() }, APART);
    else logger.info({ aheadMs: ahead() }, "this machine's clock and the event store's agree again");
  }

  /** Either clock may have been set, or this machine have slept. */
  function agrees(): boolean {
    if (!isApart()) return true;
    tell();
    const isDue = wasSet() || passed() > ASK_EVERY_MS;
    if (isDue && monotonic.now() - askedAt > ASK_AGAIN_MS) compare().catch(() => {});
    return false;
  }

  return {
    compare,
    ahead,
    agrees,
    now: () => (agrees() || !answer ? clock.now() : Math.round(answer.time + passed())),
    async certain() {
      if (!agrees()) return undefined;
      await compare();
      return isApart() || !answer ? undefined : Math.min(clock.now(), Math.floor(answer.time + passed()));
    },
  };
}

const APART =
  "this machine's clock and the event store's are far apart: the store's is gone by, and nothing is ended by the clock until they agree";
