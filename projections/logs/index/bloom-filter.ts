/** Bloom filter over the terms of a block. */
import { createTermSet } from './term-set.js';

/** 12 bits per term and 5 probes give about one false positive in 300 blocks. */
const BITS_PER_TERM = 12;
const PROBES = 5;

export function makeTermFilter(terms: Iterable<number>, capacity: number): Uint8Array {
  const filter = emptyTermFilter(capacity);
  for (const term of terms) putTerm(filter, term);
  return filter;
}

export const emptyTermFilter = (capacity: number): Uint8Array =>
  new Uint8Array(Math.ceil((capacity * BITS_PER_TERM) / 8) + 1);

export function putTerm(filter: Uint8Array, term: number) {
  const bits = filter.length * 8;
  let [probe, step] = [mix(term), mix(term ^ 0x5bd1e995) | 1];
  for (let probes = 0; probes < PROBES; probes++) {
    const bit = bitOf(probe, bits);
    filter[bit >>> 3]! |= 1 << (bit & 7);
    probe = (probe + step) | 0;
  }
}

/** Builds a filter incrementally: each call adds only new terms, and the result does not depend on earlier calls. */
export function growTermFilter() {
  const terms = createTermSet();
  let addedCount = 0;
  let capacity = 0;
  let filter = makeTermFilter(terms, 0);
  return {
    terms,
    add: (term: number): void => void terms.add(term),
    /** Sized for up to twice the current terms. */
    filter(): Uint8Array {
      if (terms.size > capacity) {
        capacity = 2 ** Math.ceil(Math.log2(terms.size));
        filter = makeTermFilter(terms, capacity);
      } else for (const term of terms.since(addedCount)) putTerm(filter, term);
      addedCount = terms.size;
      return filter.slice();
    },
  };
}

/** Maps evenly to [0, bits); faster than a remainder. */
const bitOf = (probe: number, bits: number) => ((probe >>> 0) * bits * 2 ** -32) | 0;

export function mayHold(filter: Uint8Array, term: number): boolean {
  const bits = filter.length * 8;
  let [probe, step] = [mix(term), mix(term ^ 0x5bd1e995) | 1];
  for (let probes = 0; probes < PROBES; probes++) {
    const bit = bitOf(probe, bits);
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
    probe = (probe + step) | 0;
  }
  return true;
}

function mix(term: number): number {
  let value = Math.imul(term ^ (term >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
