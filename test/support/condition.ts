/** Waiting for what must come about by itself. */
import { setTimeout as delay } from 'node:timers/promises';

/** Asks until the answer is there; what fails on the way counts as "not yet". The test's own time-out ends it. */
export async function eventually<Answer>(ask: () => Promise<Answer | undefined | false>): Promise<Answer> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer) return answer;
    await delay(20);
  }
}
