/**
 * Counts the most frequent values of a stream in bounded memory, by the space-saving algorithm: A. Metwally, D. Agrawal,
 * A. El Abbadi, "Efficient Computation of Frequent and Top-k Elements in Data Streams" (2005).
 */

export interface Bounds {
  /** Distinct values. */
  readonly values: number;
  /** Characters of all values together. */
  readonly characters: number;
}

/** Where evicted values are counted. */
export const OTHER = '(other)';

/** As JSON, in eviction order: the hits counted since the value was added, and how many may have been missed before. */
export type SerializedList = readonly (readonly [value: string, count: number, error?: number])[];

export interface FrequentValues {
  add(value: string): void;
  /** The counts and `(other)` sum to the number of added values. */
  serialize(): SerializedList;
  readonly size: number;
  readonly characters: number;
}

interface Entry {
  /** Since the value was added: what is certain, and shown. */
  count: number;
  /** The most that may have been counted before that. */
  readonly error: number;
}

/**
 * Takes amortised constant time per added value. Any value that was added more often than the number of all added values
 * divided by the capacity is kept; the same values in the same order give the same result, also across `write` and reading.
 */
export function createFrequentValues(bounds: Bounds, written: SerializedList = []): FrequentValues {
  const entries = new Map<string, Entry>();
  let characters = 0;
  let other = 0;
  /** The most that a value outside of `entries` may have been added. */
  let threshold = 0;
  /** Eviction candidates, the next one last: entries whose estimate was `least` when they were collected. */
  let candidates: string[] = [];
  let least = 0;
  const estimateOf = ({ count, error }: Entry) => count + error;

  for (const [value, count, error = 0] of written) {
    if (value === OTHER) other = count;
    else {
      entries.set(value, { count, error });
      characters += value.length;
      threshold = Math.max(threshold, error);
    }
  }

  /** Runs at most once for each estimate that is the smallest, and so rarely. */
  function collectCandidates(): void {
    least = Math.min(...Array.from(entries.values(), estimateOf));
    candidates = Array.from(entries)
      .filter(([, entry]) => estimateOf(entry) === least)
      .map(([value]) => value)
      .reverse();
  }

  function evict(): void {
    if (candidates.length === 0) collectCandidates();
    const value = candidates.pop()!;
    const entry = entries.get(value);
    // It was counted again, or left and came back, since it became a candidate.
    if (!entry || estimateOf(entry) !== least) return;
    entries.delete(value);
    characters -= value.length;
    other += entry.count;
    threshold = least;
  }

  return {
    add(value) {
      const known = entries.get(value);
      if (known) {
        known.count++;
        return;
      }
      if (value === OTHER) {
        other++;
        return;
      }
      const isFull = () => entries.size >= bounds.values || characters + value.length > bounds.characters;
      while (entries.size > 0 && isFull()) evict();
      entries.set(value, { count: 1, error: threshold });
      characters += value.length;
    },
    serialize() {
      const list = Array.from(entries, ([value, { count, error }]) =>
        error === 0 ? ([value, count] as const) : ([value, count, error] as const),
      );
      return other === 0 ? list : [...list, [OTHER, other]];
    },
    get size() {
      return entries.size;
    },
    get characters() {
      return characters;
    },
  };
}
