/** Counts by key within a memory budget, and returns the largest counts. */
import type { Checkpoint } from './query-budget.js';

export interface Bucket {
  readonly key: string;
  readonly count: number;
}

export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
}

/** Characters still available to the keys of all concurrent counts. */
export interface KeyBudget {
  remaining: number;
}

const ENTRY_CHARACTERS = 64;
/** Characters of keys in a result: keys are never cut, so long ones mean fewer buckets. */
const RESULT_CHARACTERS = 4 * 1024 * 1024;

export type Tally = ReturnType<typeof createTopKCounter>;

export function createTopKCounter(budget: KeyBudget) {
  const counts = new Map<string, number>();
  let [total, used] = [0, 0];
  return {
    /** Adds a count under each of the keys. Throws `TooManyKeys`. */
    add(keys: readonly string[], count: number) {
      total += count;
      for (const key of keys) {
        const before = counts.get(key);
        if (before === undefined) {
          const size = key.length + ENTRY_CHARACTERS;
          used += size;
          budget.remaining -= size;
          if (budget.remaining < 0) throw new TooManyKeys();
        }
        counts.set(key, (before ?? 0) + count);
      }
    },

    /** Records counted; one with several keys is in several buckets. */
    total: () => total,

    async largest(limit: number, checkpoint: Checkpoint): Promise<readonly Bucket[]> {
      let best: Bucket[] = [];
      for (const [key, count] of counts) {
        const pause = checkpoint();
        if (pause) await pause;
        best.push({ key, count });
        // Sorts in small steps: sorting millions in one go would block for seconds.
        if (best.length >= 2 * limit) best = best.sort(byCount).slice(0, limit);
      }
      let characters = 0;
      return best
        .sort(byCount)
        .slice(0, limit)
        .filter(({ key }, index) => {
          characters += key.length;
          return index === 0 || characters <= RESULT_CHARACTERS;
        });
    },

    /** Returns its characters to the budget. */
    release() {
      budget.remaining += used;
      used = 0;
      counts.clear();
    },
  };
}

const byCount = (a: Bucket, b: Bucket) => b.count - a.count || (a.key < b.key ? -1 : 1);
