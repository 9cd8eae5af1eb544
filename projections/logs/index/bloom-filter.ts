/** A Bloom filter over the terms of a block: says for certain that a term is not in it, and rarely errs otherwise. */
import { createTermSet } from './term-set.js';

/** 12 bits a term and 5 probes: about one block in 300 is opened in vain. */
const BITS_PER_TERM = 12;
const PROBES = 5;

/** `capacity`: how many terms it is made for, if more are to come. */
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

/** A filter of terms that become more, the same whenever it was asked for before: only what is new is put into it. */
export function growTermFilter() {
  const terms = createTermSet();
  let done = 0;
  let capacity = 0;
  let filter = makeTermFilter(terms, 0);
  return {
    terms,
    add: (term: number): void => void terms.add(term),
    /** With room for up to twice as many. */
    filter(): Uint8Array {
      if (terms.size > capacity) {
        capacity = 2 ** Math.ceil(Math.log2(terms.size));
        filter = makeTermFilter(terms, capacity);
      } else for (const term of terms.since(done)) putTerm(filter, term);
      done = terms.size;
      return filter.slice();
    },
  };
}

/** One of so many, all alike likely; a remainder would take longer than all else. */
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

/** The finalizer of MurmurHash3. */
function mix(term: number): number {
  let value = Math.imul(term ^ (term >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
