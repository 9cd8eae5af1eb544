/** Processes many items even if some fail, and throws the first failure at the end. */
import { UnavailableError } from '../ports/index.js';

export interface FailureCollector {
  /**
   * Awaits one job and records its failure. Rethrows `UnavailableError`: without the store all others would fail too.
   */
  run(job: Promise<unknown>): Promise<void>;
  /** Throws the first recorded failure, if any; call it after the last job. */
  throwFirst(): void;
}

export function collectFailures(): FailureCollector {
  const failures: unknown[] = [];
  return {
    async run(job) {
      try {
        await job;
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
