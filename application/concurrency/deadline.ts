/** A wait with an end: a store that freezes says nothing, for ever. */
import { UnavailableError } from '../ports/index.js';

/** How long a store has for one call, ms. */
export const STORE_CALL_MS = 3500;

/**
 * How long a request may take to be answered, ms, whatever it asks of the stores: two calls in a row, and a little.
 * The 10 s that are promised leave the rest to a machine that has other work to do (docs/guide/bounds.md).
 */
export const REQUEST_MS = 8000;

/** What is tried again is tried again for so long, ms: the last try ends within the time of its request. */
export const RETRY_MS = REQUEST_MS - STORE_CALL_MS;

/** How long a store has where health waits for it, ms: that is answered within 2 s. */
export const HEALTH_MS = 1000;

/** What `work` comes to; `Unavailable` when `ms` pass first. The work itself goes on: it may be done all the same. */
export function withDeadline<T>(ms: number, work: Promise<T> | T, who: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new UnavailableError(`${who} did not answer within ${Math.round(ms)} ms`));
    const timer = setTimeout(late, ms);
    const settling =
      <V>(settle: (outcome: V) => void) =>
      (outcome: V) => {
        clearTimeout(timer);
        settle(outcome);
      };
    Promise.resolve(work).then(settling(resolve), settling(reject));
  });
}
