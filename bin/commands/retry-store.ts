/** For commands that take long: what a store has not done in time is tried again, with a word, and not given up. */
import { sleep } from '../../application/concurrency/index.js';
import { UnavailableError } from '../../application/ports/index.js';

/** Since anything was done last, ms. */
const PATIENCE_MS = 60_000;
const AGAIN_MS = 1000;

export interface Patience {
  /** Something was done. */
  renew(): void;
  /** What one of the attempts comes to; rejects with what is wrong where it is no silence, or the patience is at its end. */
  with<Answer>(first: () => Promise<Answer>, again?: () => Promise<Answer>): Promise<Answer>;
}

/** `tell`: what is told before it is tried again, `againMs` later. */
export function createPatience(
  signal: AbortSignal,
  tell: (error: UnavailableError) => void,
  { patienceMs = PATIENCE_MS, againMs = AGAIN_MS } = {},
): Patience {
  let since = performance.now();
  return {
    renew() {
      since = performance.now();
    },
    async with(first, again = first) {
      for (let attempt = first; ; attempt = again) {
        try {
          return await attempt();
        } catch (error) {
          const isSilence = error instanceof UnavailableError;
          if (!isSilence || signal.aborted || performance.now() - since > patienceMs) throw error;
          tell(error);
        }
        await sleep(againMs, signal);
      }
    },
  };
}
