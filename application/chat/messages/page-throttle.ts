/** Limits concurrent page rendering: a page may be 16 MB and is in memory several times while it is built. */
import { createFairSemaphore, type WaitOptions } from '../../concurrency/index.js';
import { CACHED_PAGE_SIZE } from './page-cache.js';

/** Concurrent pages of ordinary length, a few megabytes each at most. */
const CONCURRENCY = 8;
const MAX_WAITING = 1000;
/** The same for longer pages. */
const LONG_CONCURRENCY = 1;
const MAX_LONG_WAITING = 200;
/** Bytes. A page shared by several readers stays in memory until each has received it. */
const MAX_SHARED_BYTES = 8 * 1024 * 1024;

/** Reader of a page; readers are served round-robin. */
export interface Reader {
  readonly userId: string;
  /** The request; its abort cancels waiting. */
  readonly request?: WaitOptions['request'];
}

/**
 * Runs a job that renders up to `limit` messages, fairly per reader. Rejects with `UnavailableError` when too many wait
 * or the client disconnects. Wait for rows before calling: readers with equal `coalescing` keys share one result.
 */
export type PageThrottle = <Made>(
  limit: number,
  reader: Reader,
  make: () => Promise<Made>,
  coalescing?: Coalescing<Made>,
) => Promise<Made>;

/** Key of equal jobs, and the bytes of sharing the result with one more reader. */
export interface Coalescing<Made> {
  readonly key: string;
  readonly bytes: (made: Made) => number;
}

export function createPageThrottle(): PageThrottle {
  const short = createFairSemaphore('a page', CONCURRENCY, MAX_WAITING);
  const long = createFairSemaphore('a long page', LONG_CONCURRENCY, MAX_LONG_WAITING);
  return (limit, { userId, request }, make, coalescing) =>
    (limit > CACHED_PAGE_SIZE ? long : short)(make, userId, {
      ...(request && { request }),
      ...(coalescing && {
        coalesceKey: coalescing.key,
        maxSharers: (made) => MAX_SHARED_BYTES / coalescing.bytes(made),
      }),
    });
}
