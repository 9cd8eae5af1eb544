/** Counts by key, bounded in memory, and the largest of them. */
import type { Checkpoint } from './query-budget.js';

export interface Bucket {
  readonly key: string;
  readonly count: number;
}

/** There are too many different keys to count them all. */
export class TooManyKeys extends Error {
  override readonly name = 'TooManyKeys';
}

/** What the keys of all counts that run at the same time may take, in characters. */
export interface KeyBudget {
  left: number;
}

/** What a key takes besides its text. */
const ENTRY_CHARACTERS = 64;
/** A key is shown whole, so that fewer are shown where they are long. */
const SHOWN_CHARACTERS = 4 * 1024 * 1024;

export interface Tally {
  /** Counts records that passed, under each of the keys. Throws `TooManyKeys`. */
  add(keys: readonly string[], count: number): void;
  /** Records that were counted; one with several keys is in several buckets. */
  total(): number;
  /** By count from the highest, then by key. */
  largest(limit: number, pace: Checkpoint): Promise<readonly Bucket[]>;
  /** Gives back what its keys took. */
  release(): void;
}

export function createTopKCounter(budget: KeyBudget): Tally {
  const counts = new Map<string, number>();
  let [total, taken] = [0, 0];
  return {
    add(keys, count) {
      total += count;
      for (const key of keys) {
        const before = counts.get(key);
        if (before === undefined) {
          const size = key.length + ENTRY_CHARACTERS;
          taken += size;
          budget.left -= size;
          if (budget.left < 0) throw new TooManyKeys();
        }
        counts.set(key, (before ?? 0) + count);
      }
    },

    total: () => total,

    async largest(limit, pace) {
      let best: Bucket[] = [];
      for (const [key, count] of counts) {
        const turn = pace();
        if (turn) await turn;
        best.push({ key, count });
        // Sorted a few at a time: all at once would take seconds where there are millions.
        if (best.length >= 2 * limit) best = best.sort(byCount).slice(0, limit);
      }
      let characters = 0;
      return best
        .sort(byCount)
        .slice(0, limit)
        .filter(({ key }, index) => {
          characters += key.length;
          return index === 0 || characters <= SHOWN_CHARACTERS;
        });
    },

    release() {
      budget.left += taken;
      taken = 0;
      counts.clear();
    },
  };
}

const byCount = (a: Bucket, b: Bucket) => b.count - a.count || (a.key < b.key ? -1 : 1);
