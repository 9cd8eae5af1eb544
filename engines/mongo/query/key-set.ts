/** Sorted sets of index keys. */
import { keyOf } from '../bson/key.js';
import type { Value } from '../bson/value.js';
import { isLong } from '../storage/keys.js';

export interface KeySet {
  readonly length: number;
  /** True if any key is too long to be stored whole. */
  readonly long: boolean;
  /** Key at an index in the order; must not be modified. */
  at(index: number): Buffer;
  has(key: Buffer): boolean;
}

/** Set with the keys of all values. */
export function createKeySet(values: Iterable<Value>): KeySet {
  const all = Array.from(values, keyOf).sort(Buffer.compare);
  const keys = all.filter((key, i) => i === 0 || !key.equals(all[i - 1]!));
  return {
    length: keys.length,
    long: keys.some(isLong),
    at: (index) => keys[index]!,
    has(key) {
      let [low, high] = [0, keys.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        const order = Buffer.compare(keys[middle]!, key);
        if (order === 0) return true;
        if (order < 0) low = middle + 1;
        else high = middle;
      }
      return false;
    },
  };
}
