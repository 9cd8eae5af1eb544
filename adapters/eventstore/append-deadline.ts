/** Appends with a deadline: a server that comes to one later does not do it any more. */
import { STORE_CALL_MS } from '../../application/concurrency/index.js';
import { type Logger, UnavailableError } from '../../application/ports/index.js';
import { callStore } from './call.js';
import { DeadlineExceededError } from './driver.js';

/** A cluster that waits for its other members in vain says the same words, but after 2 s at the earliest. */
const EARLY_MS = 1500;

/**
 * Calls with a deadline in ms. The driver sends it as an instant of this machine's clock, and where that is behind the
 * server's it has passed before it arrives: such an append is sent again without one, and so are all after it.
 */
export function createAppendDeadline(logger: Logger) {
  let isBehind = false;
  return async <T>(append: (deadline: number) => Promise<T>): Promise<T> => {
    const without = () => callStore(() => append(Number.POSITIVE_INFINITY));
    if (isBehind) return without();
    const began = performance.now();
    try {
      return await callStore(() => append(STORE_CALL_MS));
    } catch (error) {
      const isRefused = error instanceof UnavailableError && error.cause instanceof DeadlineExceededError;
      if (!isRefused || performance.now() - began >= EARLY_MS) throw error;
    }
    const done = await without();
    if (!isBehind) logger.warn({}, BEHIND);
    isBehind = true;
    return done;
  };
}

const BEHIND =
  "this machine's clock is behind the event store's: appends go without a deadline; set the clock right and start again";
