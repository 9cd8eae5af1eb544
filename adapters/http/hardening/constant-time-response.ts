/** Stops timing attacks: delays responses to multiples of a step, so that their duration does not reveal what was found. */
import { type After, systemTimer } from '../../../application/concurrency/index.js';

export interface StepTime {
  now(): number;
  readonly after: After;
}

const SYSTEM_TIME: StepTime = { now: () => performance.now(), after: systemTimer };

/** Longer than the lookups to hide, such as those of addresses with and without an account. */
const STEP_MS = 250;

/** Settles like the work, at the next multiple of the step. */
export async function quantizeDuration<Answer>(
  work: () => Promise<Answer>,
  { now, after }: StepTime = SYSTEM_TIME,
): Promise<Answer> {
  const startedAt = now();
  try {
    return await work();
  } finally {
    await new Promise<void>((resolve) => void after(STEP_MS - ((now() - startedAt) % STEP_MS), resolve));
  }
}
