/** Keys in their order, each once: packed, for those of a million operands are half a gigabyte as objects. */
import { keyOf } from '../bson/key.js';
import type { Value } from '../bson/value.js';
import { isLong } from '../storage/keys.js';

export interface Points {
  readonly length: number;
  /** Whether any is too long to be stored whole. */
  readonly long: boolean;
  /** The key at a place in the order; not to be changed. */
  at(index: number): Buffer;
  has(key: Buffer): boolean;
}

/** The key of one value. */
export function pointOf(value: Value): Points {
  const key = keyOf(value);
  return { length: 1, long: isLong(key), at: () => key, has: (other) => key.equals(other) };
}

/** The keys of all values. */
export function pointsOf(values: Iterable<Value>): Points {
  const packed = new Packed();
  for (const value of values) packed.push(keyOf(value));
  return packed.inOrder();
}

/** Fewer bytes than a number holds exactly. */
const LEADING = 6;

/** Keys one behind the other. */
class Packed implements Points {
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

  /** Itself, or its keys anew. */
  inOrder(): Packed {
    let isInOrder = true;
    for (let i = 1; isInOrder && i < this.length; i++) isInOrder = this.#compare(i - 1, i) < 0;
    if (isInOrder) return this;
    const leading = this.#leading();
    const order = this.#ends.map((_, i) => i);
    order.sort((a, b) => leading[a]! - leading[b]! || this.#compare(a, b));
    const sorted = new Packed();
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

  /** Of each key the first bytes that not all share, as a number: most are told apart by them. */
  #leading(): Float64Array {
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
      for (let at = from; at < from + LEADING; at++) number = number * 256 + (at < end ? this.#bytes[at]! : 0);
      return number;
    });
  }
}
