/**
 * Pages of what was said are made a few at a time, from their rows to their JSON: one may be of sixteen megabytes, which are
 * in memory several times over until then, and anybody may ask for many.
 */
import { createAtOnce } from '../at-once.js';
import { KEPT } from './hot.js';

/** Of those that are asked for all the time, a few megabytes each at most. */
const AT_ONCE = 8;
const MOST_WAITING = 1000;
/** Of longer ones. */
const LONG_AT_ONCE = 1;
const MOST_LONG_WAITING = 200;

/**
 * Runs what makes a page of up to `limit` messages when it is its turn: by turns for each of those who ask. Rejects with
 * `Unavailable` when too many wait. What is to be waited for, such as rows that are behind, has been waited for before.
 */
export type PageTurns = <Made>(limit: number, whose: string, make: () => Promise<Made>) => Promise<Made>;

export function createPageTurns(): PageTurns {
  const short = createAtOnce('a page', AT_ONCE, MOST_WAITING);
  const long = createAtOnce('a long page', LONG_AT_ONCE, MOST_LONG_WAITING);
  return (limit, whose, make) => (limit > KEPT ? long : short)(make, whose);
}
