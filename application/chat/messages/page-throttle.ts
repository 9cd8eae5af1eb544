/**
 * Pages of what was said are made a few at a time, from their rows to their JSON: one may be of sixteen megabytes, which are
 * in memory several times over until then, and anybody may ask for many.
 */
import { createFairSemaphore, type WaitOptions } from '../../concurrency/index.js';
import { KEPT } from './page-cache.js';

/** Of those that are asked for all the time, a few megabytes each at most. */
const AT_ONCE = 8;
const MOST_WAITING = 1000;
/** Of longer ones. */
const LONG_AT_ONCE = 1;
const MOST_LONG_WAITING = 200;
/** Bytes: what is given to many at once waits in memory until each has taken it. */
const SENT_AT_ONCE = 8 * 1024 * 1024;

/** Who is shown a page: of all who ask each has their turn. */
export interface Reader {
  readonly userId: string;
  /** Of their request, while it waits. */
  readonly leaving?: WaitOptions['leaving'];
}

/**
 * Runs what makes a page of up to `limit` messages when it is its turn: by turns for each of those who ask. Rejects with
 * `Unavailable` when too many wait, or who waited has gone. What is to be waited for, such as rows that are behind, has
 * been waited for before: so what is made may be given to others who waited for the `same` when it began.
 */
export type PageTurns = <Made>(
  limit: number,
  asking: Reader,
  make: () => Promise<Made>,
  same?: Same<Made>,
) => Promise<Made>;

/** What tells it from others, and what giving it to one more comes to. */
export interface Same<Made> {
  readonly key: string;
  readonly bytes: (made: Made) => number;
}

export function createPageThrottle(): PageTurns {
  const short = createFairSemaphore('a page', AT_ONCE, MOST_WAITING);
  const long = createFairSemaphore('a long page', LONG_AT_ONCE, MOST_LONG_WAITING);
  return (limit, { userId, leaving }, make, same) =>
    (limit > KEPT ? long : short)(make, userId, {
      ...(leaving && { leaving }),
      ...(same && { coalesceKey: same.key, maxSharers: (made) => SENT_AT_ONCE / same.bytes(made) }),
    });
}
