/** Insertion-ordered hash set of 32-bit terms: blocks have thousands, and each record looks up a dozen. */

import { makeBloomFilter } from '../../kernel/index.js';

export type TermSet = ReturnType<typeof createTermSet>;

const INITIAL_SIZE = 256;
const LOAD_FACTOR = 0.5;
/** Growth factor; large, because most blocks reach thousands of terms. */
const GROWTH = 4;
const HASH_MULTIPLIER = 0x9e3779b1;
/** Bits per term of a block's Bloom filters. */
export const BITS_PER_TERM = 12;

export function createTermSet() {
  let terms = new Int32Array(INITIAL_SIZE * LOAD_FACTOR);
  /** Slots of the hash table: 1-based index in `terms`, or 0 if free. */
  let table = new Uint32Array(INITIAL_SIZE);
  let size = 0;

  const find = (term: number) => {
    const mask = table.length - 1;
    let at = (Math.imul(term, HASH_MULTIPLIER) >>> 8) & mask;
    for (let entry = table[at]!; entry !== 0 && terms[entry - 1] !== term; entry = table[at]!) at = (at + 1) & mask;
    return at;
  };

  const grow = () => {
    table = new Uint32Array(table.length * GROWTH);
    const larger = new Int32Array(table.length * LOAD_FACTOR);
    larger.set(terms);
    terms = larger;
    for (let entry = 0; entry < size; entry++) table[find(terms[entry]!)] = entry + 1;
  };

  const values = () => terms.subarray(0, size);

  return {
    get size() {
      return size;
    },
    get memory() {
      return terms.byteLength + table.byteLength;
    },
    add(term: number): boolean {
      const int32 = term | 0;
      let at = find(int32);
      if (table[at] !== 0) return false;
      if (size === terms.length) {
        grow();
        at = find(int32);
      }
      terms[size++] = int32;
      table[at] = size;
      return true;
    },
    values,
    filter: () => makeBloomFilter(values(), BITS_PER_TERM * size),
  };
}
