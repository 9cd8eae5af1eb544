/** How a query goes on: within its budget, while somebody waits for it, letting others have their turn. */
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { Clock } from '../../ports/index.js';

/** Called for every record and block that is looked at. Throws to give up; what it gives, if anything, is awaited. */
export type Checkpoint = () => Promise<void> | undefined;

/** The query took longer than it may. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Nobody waits for the answer any more. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

/** Only lets others have their turn. */
export const yieldOnly: Checkpoint = () => (sliceExpired() ? yieldToEventLoop() : undefined);

/** Only gives up when nobody waits any more. */
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
