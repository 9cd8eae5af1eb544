/** How a query goes on: within its budget, while somebody waits for it, letting others have their turn. */
import { isTurnOver, nextTurn } from '../../concurrency/cooperative-scheduler.js';
import type { Clock } from '../../ports/index.js';

/** Called for every record and block that is looked at. Throws to give up; what it gives, if anything, is awaited. */
export type Pace = () => Promise<void> | undefined;

/** The query took longer than it may. */
export class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

/** Nobody waits for the answer any more. */
export class Abandoned extends Error {
  override readonly name = 'Abandoned';
}

/** Only lets others have their turn. */
export const unhurried: Pace = () => (isTurnOver() ? nextTurn() : undefined);

/** Only gives up when nobody waits any more. */
export const whileAwaited =
  (signal: AbortSignal | undefined): Pace =>
  () => {
    if (signal?.aborted) throw new Abandoned();
    return unhurried();
  };

/** `until`: Unix ms. */
export function createPace(clock: Clock, until: number, signal: AbortSignal): Pace {
  return () => {
    if (signal.aborted) throw new Abandoned();
    if (clock.now() > until) throw new TimedOut();
    return unhurried();
  };
}
