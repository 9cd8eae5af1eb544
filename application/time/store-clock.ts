/**
 * Store clock: compares this machine's clock with the event store's, so that a wrong one has no effect
 * (docs/guide/many-nodes.md).
 */
import { createSingleFlight } from '../concurrency/index.js';
import type { Clock, Logger } from '../ports/index.js';

/** Largest tolerated skew, ms; synchronized clocks are within a second. */
const MAX_SKEW_MS = 120_000;
/** Milliseconds between queries to the store while the skew is unchanged. */
const QUERY_EVERY_MS = 60_000;
/** Shortest time between queries to the store, ms. */
const MIN_QUERY_INTERVAL_MS = 1000;

export interface StoreClockOptions {
  /** Queries the store's time, Unix ms, by writing an event. */
  readonly queryTime: () => Promise<number>;
  readonly logger: Logger;
  /** Clock of this machine; may be wrong and may be set at any moment. */
  readonly clock?: Clock;
  /** Monotonic clock, ms. */
  readonly monotonic?: Clock;
}

/**
 * Computes the store's time from its last answer and the time elapsed since, so that a change of either clock is
 * noticed immediately. The result is a lower bound, because the answer takes time to arrive.
 */
export function createStoreClock({ queryTime, logger, clock = Date, monotonic = performance }: StoreClockOptions) {
  let answer: { readonly time: number; readonly at: number; readonly skewMs: number } | undefined;
  const singleFlight = createSingleFlight();
  let queriedAt = Number.NEGATIVE_INFINITY;
  let isReported = false;

  const elapsed = () => (answer ? monotonic.now() - answer.at : Number.POSITIVE_INFINITY);
  /** Milliseconds that this machine's clock is ahead of the store's; undefined before the first comparison. */
  const skewMs = () => answer && Math.round(clock.now() - answer.time - elapsed());
  const isSkewed = () => Math.abs(skewMs() ?? 0) > MAX_SKEW_MS;

  /** Whether this clock was set since the answer. On the same machine the store's was set, too. */
  const wasSet = () => answer !== undefined && Math.abs((skewMs() ?? 0) - answer.skewMs) > MAX_SKEW_MS;

  /** Compares with the store. Before the first comparison this machine's clock is trusted. */
  const compare = () =>
    singleFlight('time', async () => {
      queriedAt = monotonic.now();
      const time = await queryTime();
      answer = { time, at: monotonic.now(), skewMs: clock.now() - time };
      reportChange();
    });

  function reportChange() {
    if (isSkewed() === isReported) return;
    isReported = !isReported;
    if (isReported) logger.warn({ aheadMs: skewMs() }, SKEWED);
    else logger.info({ aheadMs: skewMs() }, "this machine's clock and the event store's agree again");
  }

  /** Compares again if the skew may have changed: a clock was set, or this machine was suspended. */
  function inSync(): boolean {
    if (!isSkewed()) return true;
    reportChange();
    const isDue = wasSet() || elapsed() > QUERY_EVERY_MS;
    if (isDue && monotonic.now() - queriedAt > MIN_QUERY_INTERVAL_MS) compare().catch(() => {});
    return false;
  }

  return {
    compare,
    skewMs,
    inSync,
    now: () => (inSync() || !answer ? clock.now() : Math.round(answer.time + elapsed())),
    async confirmedNow() {
      if (!inSync()) return undefined;
      await compare();
      return isSkewed() || !answer ? undefined : Math.min(clock.now(), Math.floor(answer.time + elapsed()));
    },
  };
}

const SKEWED =
  "this machine's clock and the event store's differ by more than 2 minutes; using the event store's; expiry is paused until they agree";
