/** Limits of chat aggregates: counts per user, and lengths of names. */
import { isVisible, PersistentMap } from '../shared/index.js';

export type Counts = PersistentMap<number>;

export const noCounts: Counts = PersistentMap.empty();

export const countOf = (counts: Counts, key: string): number => counts.get(key) ?? 0;

export function addCount(counts: Counts, key: string, more = 1): Counts {
  const total = countOf(counts, key) + more;
  return total > 0 ? counts.set(key, total) : counts.delete(key);
}

export const lengthOf = (text: string): number => [...text].length;

/** Trims a name; undefined when invisible or longer than `maxLength`. */
export function fitName(name: string, maxLength: number): string | undefined {
  const trimmed = name.normalize('NFC').trim();
  return isVisible(trimmed) && lengthOf(trimmed) <= maxLength ? trimmed : undefined;
}
