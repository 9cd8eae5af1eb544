/** Answers that must not tell by how long they take what was found: they come at whole steps of time. */
import { type After, afterAll } from '../../platform/process/timer.js';

export interface StepTime {
  /** In ms, from whenever. */
  now(): number;
  readonly after: After;
}

const REAL: StepTime = { now: () => performance.now(), after: afterAll };

/** Answers come at whole numbers of these after the asking: some addresses take longer to look up than others. */
const STEP_MS = 250;

/** Settles as the work does, at the end of the step in which it has. */
export async function quantizeDuration<Answer>(
  work: () => Promise<Answer>,
  { now, after }: StepTime = REAL,
): Promise<Answer> {
  const began = now();
  try {
    return await work();
  } finally {
    await new Promise<void>((resolve) => void after(STEP_MS - ((now() - began) % STEP_MS), resolve));
  }
}
