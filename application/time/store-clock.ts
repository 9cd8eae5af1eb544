/** A machine's clock held against the event store's: a wrong one ends and stamps nothing (docs/guide/many-nodes.md). */
import type { Clock, ConfirmedClock, Logger } from '../ports/index.js';

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

export interface StoreClock extends ConfirmedClock {
  /** Asks the store; until then this machine's clock is believed. Rejects with `Unavailable`. */
  compare(): Promise<void>;
  /** How far this machine's clock is ahead of the store's, in ms, negative when behind; undefined when never asked. */
  skewMs(): number | undefined;
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
  let answer: { readonly time: number; readonly at: number; readonly skewMs: number } | undefined;
  let asking: Promise<void> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  let isTold = false;

  const passed = () => (answer ? monotonic.now() - answer.at : Number.POSITIVE_INFINITY);
  const skewMs = () => answer && Math.round(clock.now() - answer.time - passed());
  const isApart = () => Math.abs(skewMs() ?? 0) > APART_MS;

  /** This clock was set since the answer; the store's may have been set with it, where both are of one machine. */
  const wasSet = () => answer !== undefined && Math.abs((skewMs() ?? 0) - answer.skewMs) > APART_MS;

  const compare = () => {
    if (!asking) askedAt = monotonic.now();
    asking ??= ask()
      .then((time) => {
        answer = { time, at: monotonic.now(), skewMs: clock.now() - time };
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
    if (isTold) logger.warn({ aheadMs: skewMs() }, APART);
    else logger.info({ aheadMs: skewMs() }, "this machine's clock and the event store's agree again");
  }

  /** Either clock may have been set, or this machine have slept. */
  function inSync(): boolean {
    if (!isApart()) return true;
    tell();
    const isDue = wasSet() || passed() > ASK_EVERY_MS;
    if (isDue && monotonic.now() - askedAt > ASK_AGAIN_MS) compare().catch(() => {});
    return false;
  }

  return {
    compare,
    skewMs,
    inSync: inSync,
    now: () => (inSync() || !answer ? clock.now() : Math.round(answer.time + passed())),
    async confirmedNow() {
      if (!inSync()) return undefined;
      await compare();
      return isApart() || !answer ? undefined : Math.min(clock.now(), Math.floor(answer.time + passed()));
    },
  };
}

const APART =
  "this machine's clock and the event store's are far apart: the store's is gone by, and nothing is ended by the clock until they agree";
