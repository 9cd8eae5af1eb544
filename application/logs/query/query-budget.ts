/** Keeps a query within its time budget, stops it when its caller disconnects, and yields to the event loop. */
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { Clock } from '../../ports/index.js';

/** Called for every block and every few records examined. Throws to stop the query; a returned promise must be awaited. */
export type Checkpoint = () => Promise<void> | undefined;

export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** No caller waits for the result any more. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

export const yieldOnly: Checkpoint = () => (sliceExpired() ? yieldToEventLoop() : undefined);

export const untilAborted =
  (signal: AbortSignal | undefined): Checkpoint =>
  () => {
    if (signal?.aborted) throw new Abandoned();
    return yieldOnly();
  };

/** `until`: Unix ms. */
export function createQueryBudget(clock: Clock, until: number, signal: AbortSignal): Checkpoint {
  return () => {
    if (signal.aborted) throw new Abandoned();
    if (clock.now() > until) throw new TimedOut();
    return yieldOnly();
  };
}
