/** Stops timing attacks: the duration of a response or comparison reveals neither what was found nor part of a secret. */
import { hash, timingSafeEqual } from 'node:crypto';
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

/** Returns a check of texts against a secret; a secret that is not configured equals nothing. */
export function equalsSecret(secret: string | undefined): (input: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const expected = digest(secret ?? '');
  return (input) => timingSafeEqual(digest(input), expected) && secret !== undefined;
}
