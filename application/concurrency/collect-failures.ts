/** Work on many things, of which one that can't be worked on keeps none of the others. */
import { UnavailableError } from '../ports/index.js';

export interface FailureCollector {
  /** Works on one. Rejects only where a store is away: then nothing else could be done either. */
  run(work: Promise<unknown>): Promise<void>;
  /** To be called when all are through: throws what the first failed with, if any did. */
  throwFirst(): void;
}

export function collectFailures(): FailureCollector {
  const failures: unknown[] = [];
  return {
    async run(work) {
      try {
        await work;
      } catch (error) {
        if (error instanceof UnavailableError) throw error;
        failures.push(error);
      }
    },
    throwFirst() {
      if (failures.length > 0) throw failures[0];
    },
  };
}
