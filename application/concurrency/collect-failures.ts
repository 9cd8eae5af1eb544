/** Work on many things, of which one that can't be worked on keeps none of the others. */
import { Unavailable } from '../ports/index.js';

export interface OneByOne {
  /** Works on one. Rejects only where a store is away: then nothing else could be done either. */
  on(work: Promise<unknown>): Promise<void>;
  /** To be called when all are through: throws what the first failed with, if any did. */
  end(): void;
}

export function oneByOne(): OneByOne {
  const failures: unknown[] = [];
  return {
    async on(work) {
      try {
        await work;
      } catch (error) {
        if (error instanceof Unavailable) throw error;
        failures.push(error);
      }
    },
    end() {
      if (failures.length > 0) throw failures[0];
    },
  };
}
