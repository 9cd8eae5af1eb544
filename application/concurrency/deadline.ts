/** Deadlines for calls to stores, because a frozen store never answers; waits that a signal can end; timers. */
import { setTimeout as delay } from 'node:timers/promises';
import { UnavailableError } from '../ports/index.js';

/** Milliseconds for one call to a store. */
export const STORE_CALL_MS = 3500;

/**
 * Milliseconds for a request: two consecutive store calls and a margin. The rest of the promised 10 s is left to a busy
 * machine (docs/guide/bounds.md).
 */
export const REQUEST_MS = 8000;

/** Milliseconds during which retries may start, so that the last one ends within its request. */
export const RETRY_MS = REQUEST_MS - STORE_CALL_MS;

/** Milliseconds for a store call of the health check, which answers within 2 s. */
export const HEALTH_MS = 1000;

/**
 * Settles like `work`, or rejects with `UnavailableError` after `ms`. The work is not cancelled and may still succeed.
 *
 * @param name What did not answer, for the error message.
 */
export function withDeadline<T>(ms: number, work: Promise<T> | T, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const expire = () => reject(new UnavailableError(`${name} did not answer within ${Math.round(ms)} ms`));
    const timer = setTimeout(expire, ms);
    const clearAnd =
      <V>(settle: (outcome: V) => void) =>
      (outcome: V) => {
        clearTimeout(timer);
        settle(outcome);
      };
    Promise.resolve(work).then(clearAnd(resolve), clearAnd(reject));
  });
}

/** Resolves after `ms`, or as soon as the signal is aborted; never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => {});

/** Runs a callback after some ms; returns a function that cancels it. Tests replace it. */
export type After = (ms: number, work: () => void) => () => void;

export const systemTimer: After = (ms, work) => {
  // Clamped: newer releases of Node warn about negative delays.
  const timer = setTimeout(work, Math.max(0, ms));
  return () => clearTimeout(timer);
};
