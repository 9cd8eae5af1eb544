/** Waits for a condition to become true. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Maximum milliseconds of a wait. It must end after its test has timed out, or mocha would never exit. Mutation
 * testing, where most waits fail, sets less.
 */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);
/** Milliseconds between polls, which cost processor time: an eighth of the time waited so far, within these limits. */
const [MIN_DELAY_MS, MAX_DELAY_MS] = [20, 100];

/**
 * Polls a condition until it returns a truthy value; an error counts as "not yet". Rejects with the last error after
 * the timeout.
 */
export async function eventually<Answer>(
  condition: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  signal?: AbortSignal,
): Promise<Answer> {
  const begun = performance.now();
  let failure: unknown;
  let waited = 0;
  while (waited < PATIENCE_MS) {
    signal?.throwIfAborted();
    try {
      const answer = await condition();
      if (answer) return answer;
    } catch (error) {
      failure = error;
    }
    waited = performance.now() - begun;
    await delay(Math.min(Math.max(waited / 8, MIN_DELAY_MS), MAX_DELAY_MS));
  }
  throw failure ?? new Error(`still not so: ${condition}`);
}
