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

/** Entry that counts evicted values. */
export const OTHER = '(other)';

/** JSON form, in eviction order: the count since the value was added, and the maximum missed before. */
export type SerializedList = readonly (readonly [value: string, count: number, error?: number])[];

export interface FrequentValues {
  add(value: string): void;
  /** The counts, including `(other)`, sum to the number of added values. */
  serialize(): SerializedList;
  readonly size: number;
  readonly characters: number;
}

interface Entry {
  /** Exact count since the value was added. */
  count: number;
  /** Maximum that may have been missed before that. */
  readonly error: number;
}

/**
 * Takes amortized constant time per added value. Keeps any value added more often than the number of all added values
 * divided by the capacity. Deterministic: equal input gives equal results, also across serialization.
 */
export function createFrequentValues(bounds: Bounds, serialized: SerializedList = []): FrequentValues {
  const entries = new Map<string, Entry>();
  let characters = 0;
  let other = 0;
  /** Maximum number of times a value outside `entries` may have been added. */
  let threshold = 0;
  /** Eviction candidates, next one last: entries with estimate `least` when collected. */
  let candidates: string[] = [];
  let least = 0;
  const estimateOf = ({ count, error }: Entry) => count + error;

  for (const [value, count, error = 0] of serialized) {
    if (value === OTHER) other = count;
    else {
      entries.set(value, { count, error });
      characters += value.length;
      threshold = Math.max(threshold, error);
    }
  }

  /** Runs at most once per smallest estimate, so rarely. */
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
    // Skip candidates that were counted or replaced since they were collected.
    if (!entry || estimateOf(entry) !== least) return;
    entries.delete(value);
    characters -= value.length;
    other += entry.count;
    threshold = least;
  }

  return {
    add(value) {
      const existing = entries.get(value);
      if (existing) {
        existing.count++;
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
