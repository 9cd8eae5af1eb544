/** Waits for a condition to become true. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Maximum milliseconds of a wait. It must end after its test has timed out, or mocha would never exit. Mutation
 * testing, where most waits fail, sets less.
 */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);

/**
 * Polls a condition until it returns a truthy value; an error counts as "not yet". Rejects with the last error after
 * the timeout.
 */
export async function eventually<Answer>(
  condition: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  signal?: AbortSignal,
): Promise<Answer> {
  const deadline = performance.now() + PATIENCE_MS;
  let failure: unknown;
  while (performance.now() < deadline) {
    signal?.throwIfAborted();
    try {
      const answer = await condition();
      if (answer) return answer;
    } catch (error) {
      failure = error;
    }
    await delay(20);
  }
  throw failure ?? new Error(`still not so: ${condition}`);
}
