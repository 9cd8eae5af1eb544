/** Retries store calls of long commands while the store is unavailable. */
import { sleep } from '../../application/concurrency/index.js';
import { UnavailableError } from '../../application/ports/index.js';

/** How long retries go on without progress. */
const TIMEOUT_MS = 60_000;
const RETRY_MS = 1000;

/** @param onRetry Called before the wait of `retryMs` between attempts. */
export function createStoreRetries(
  signal: AbortSignal,
  onRetry: (error: UnavailableError) => void,
  { timeoutMs = TIMEOUT_MS, retryMs = RETRY_MS } = {},
) {
  let lastProgress = performance.now();
  return {
    /** Restarts the timeout after progress. */
    reset() {
      lastProgress = performance.now();
    },
    /** Resolves with the first successful attempt. Rejects on other errors than `UnavailableError` and after the timeout. */
    async run<Result>(attempt: () => Promise<Result>): Promise<Result> {
      for (;;) {
        try {
          return await attempt();
        } catch (error) {
          const isUnavailable = error instanceof UnavailableError;
          if (!isUnavailable || signal.aborted || performance.now() - lastProgress > timeoutMs) throw error;
          onRetry(error);
        }
        await sleep(retryMs, signal);
      }
    },
  };
}
