/** Waiting for what must come about by itself. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Long after a test has failed of its own time-out, a wait must end too: else it would keep mocha for ever. Mutation
 * testing, where most waits are in vain, has less patience.
 */
const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);

/** Asks until there is an answer; what fails on the way counts as "not yet". Rejects at last with that failure. */
export async function eventually<Answer>(
  ask: () => Promise<Answer | undefined | false> | Answer | undefined | false,
  signal?: AbortSignal,
): Promise<Answer> {
  const until = performance.now() + PATIENCE_MS;
  let failure: unknown;
  while (performance.now() < until) {
    signal?.throwIfAborted();
    try {
      const answer = await ask();
      if (answer) return answer;
    } catch (error) {
      failure = error;
    }
    await delay(20);
  }
  throw failure ?? new Error(`still not so: ${ask}`);
}
