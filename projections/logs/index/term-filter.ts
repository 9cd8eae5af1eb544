/** Bloom filters over the terms of a block. */
import { emptyBloomFilter, makeBloomFilter, putTerm } from '../../kernel/index.js';
import { createTermSet } from './term-set.js';

const BITS_PER_TERM = 12;

export const emptyTermFilter = (capacity: number): Uint8Array => emptyBloomFilter(capacity * BITS_PER_TERM);

export const makeTermFilter = (terms: Iterable<number>, capacity: number): Uint8Array =>
  makeBloomFilter(terms, capacity * BITS_PER_TERM);

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
