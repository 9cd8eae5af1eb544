/** Sorted sets of keys in one buffer; as objects, the keys of a million operands would take half a gigabyte. */
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

/** Set with the key of one value. */
export function singleKeySet(value: Value): KeySet {
  const key = keyOf(value);
  return { length: 1, long: isLong(key), at: () => key, has: (other) => key.equals(other) };
}

/** Set with the keys of all values. */
export function createKeySet(values: Iterable<Value>): KeySet {
  const packed = new PackedKeySet();
  for (const value of values) packed.push(keyOf(value));
  return packed.sorted();
}

/** Bytes per key compared as a number; a number holds six exactly. */
const LEADING_BYTES = 6;

/** Keys stored one after another. */
class PackedKeySet implements KeySet {
  #bytes = Buffer.allocUnsafe(256);
  readonly #ends: number[] = [];
  long = false;

  push(key: Buffer): void {
    const from = this.#start(this.length);
    const end = from + key.length;
    if (end > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(end * 2);
      this.#bytes.copy(larger, 0, 0, from);
      this.#bytes = larger;
    }
    key.copy(this.#bytes, from);
    this.#ends.push(end);
    this.long ||= isLong(key);
  }

  get length(): number {
    return this.#ends.length;
  }

  at(index: number): Buffer {
    return this.#bytes.subarray(this.#start(index), this.#ends[index]);
  }

  has(key: Buffer): boolean {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const order = this.#bytes.compare(key, 0, key.length, this.#start(middle), this.#ends[middle]);
      if (order === 0) return true;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return false;
  }

  /** Returns itself if it is sorted and without duplicates, otherwise a sorted copy. */
  sorted(): PackedKeySet {
    let isSorted = true;
    for (let i = 1; isSorted && i < this.length; i++) isSorted = this.#compare(i - 1, i) < 0;
    if (isSorted) return this;
    const leadingBytes = this.#leadingBytes();
    const order = this.#ends.map((_, i) => i);
    order.sort((a, b) => leadingBytes[a]! - leadingBytes[b]! || this.#compare(a, b));
    const sorted = new PackedKeySet();
    order.forEach((index, i) => {
      if (i === 0 || this.#compare(order[i - 1]!, index) !== 0) sorted.push(this.at(index));
    });
    return sorted;
  }

  #start(index: number): number {
    return index === 0 ? 0 : this.#ends[index - 1]!;
  }

  #compare(a: number, b: number): number {
    const [ends, bytes] = [this.#ends, this.#bytes];
    return bytes.compare(bytes, this.#start(b), ends[b], this.#start(a), ends[a]);
  }

  /** First bytes after the common prefix of all keys, as numbers; they decide most comparisons. */
  #leadingBytes(): Float64Array {
    const first = this.at(0);
    let shared = first.length;
    for (let i = 1; i < this.length && shared > 0; i++) {
      const key = this.at(i);
      let same = 0;
      while (same < shared && key[same] === first[same]) same++;
      shared = same;
    }
    return Float64Array.from(this.#ends, (end, i) => {
      let number = 0;
      const from = this.#start(i) + shared;
      for (let at = from; at < from + LEADING_BYTES; at++) number = number * 256 + (at < end ? this.#bytes[at]! : 0);
      return number;
    });
  }
}
