/** Limits of chat aggregates: counts per user, lengths of names, and their rejections. */
import { isVisible, PersistentMap, type Rejection } from '../shared/index.js';

/** Counts by key, such as a user. */
export type Counts = PersistentMap<number>;

export const noCounts: Counts = PersistentMap.empty();

export const countOf = (counts: Counts, key: string): number => counts.get(key) ?? 0;

export function addCount(counts: Counts, key: string, more = 1): Counts {
  const total = countOf(counts, key) + more;
  return total > 0 ? counts.set(key, total) : counts.delete(key);
}

/** Rejection of a command that exceeds a limit; `limit` completes the sentence "At most ...". */
export const atMost = (reason: string, limit: string): Rejection => ({
  rejected: `chat/${reason}`,
  kind: 'invalid',
  detail: `At most ${limit}`,
});

/** Length in code points. */
export const lengthOf = (text: string): number => [...text].length;

/** Trims a name; undefined when invisible or longer than `maxLength`. */
export function fitName(name: string, maxLength: number): string | undefined {
  const trimmed = name.normalize('NFC').trim();
  return isVisible(trimmed) && lengthOf(trimmed) <= maxLength ? trimmed : undefined;
}

export const badLength = (reason: string, what: string, maxLength: number): Rejection => ({
  rejected: `chat/${reason}`,
  kind: 'invalid',
  detail: `${what} must be 1 to ${maxLength} characters`,
});
