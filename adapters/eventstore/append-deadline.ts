/** Sends appends with a deadline, so that the server drops those it would process too late. */
import { STORE_CALL_MS } from '../../application/concurrency/index.js';
import { type Logger, UnavailableError } from '../../application/ports/index.js';
import { callStore } from './call.js';
import { DeadlineExceededError } from './driver.js';

/**
 * Milliseconds before which a timeout error means a clock difference. A cluster without a quorum gives the same
 * error, but after 2 s at the earliest.
 */
const CLOCK_SKEW_MS = 1500;

/**
 * Returns a function that runs an append with a deadline in ms. The driver sends it as an instant of this
 * machine's clock. If that clock is behind the server's, the deadline has passed on arrival: the append is sent
 * again without one, and so are all later ones.
 */
export function createAppendDeadline(logger: Logger) {
  let isBehind = false;
  return async <T>(append: (deadline: number) => Promise<T>): Promise<T> => {
    const without = () => callStore(() => append(Number.POSITIVE_INFINITY));
    if (isBehind) return without();
    const startedAt = performance.now();
    try {
      return await callStore(() => append(STORE_CALL_MS));
    } catch (error) {
      const isRefused = error instanceof UnavailableError && error.cause instanceof DeadlineExceededError;
      if (!isRefused || performance.now() - startedAt >= CLOCK_SKEW_MS) throw error;
    }
    const done = await without();
    if (!isBehind) logger.warn({}, CLOCK_BEHIND);
    isBehind = true;
    return done;
  };
}

const CLOCK_BEHIND =
  "this machine's clock is behind the event store's, so appends have no deadline; correct the clock and restart";
