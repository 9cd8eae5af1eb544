/** Bloom filter of 32-bit terms. It must be stored encrypted, as terms can be guessed. */
import { mixBits, type TermSet } from './term-set.js';

/** With 8 bits per term about 1 in 45 lookups is a false positive. */
const PROBES = 5;

export function makeBloomFilter(terms: Pick<TermSet, 'forEach'>, bits: number): Uint8Array {
  const filter = emptyBloomFilter(bits);
  terms.forEach((term) => void putTerm(filter, term));
  return filter;
}

export const emptyBloomFilter = (bits: number): Uint8Array => new Uint8Array(Math.ceil(bits / 8) + 1);

function putTerm(filter: Uint8Array, term: number): void {
  const bits = filter.length * 8;
  let [probe, step] = [mixBits(term), stepOf(term)];
  for (let probes = 0; probes < PROBES; probes++) {
    const bit = bitOf(probe, bits);
    filter[bit >>> 3]! |= 1 << (bit & 7);
    probe = (probe + step) | 0;
  }
}

/** False means certainly absent. */
export function mayContain(filter: Uint8Array, term: number): boolean {
  const bits = filter.length * 8;
  let [probe, step] = [mixBits(term), stepOf(term)];
  for (let probes = 0; probes < PROBES; probes++) {
    const bit = bitOf(probe, bits);
    if ((filter[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
    probe = (probe + step) | 0;
  }
  return true;
}

export const mayContainAll = (filter: Uint8Array, terms: readonly number[]): boolean =>
  terms.every((term) => mayContain(filter, term));

/** Maps evenly to [0, bits); faster than a remainder. */
const bitOf = (probe: number, bits: number) => ((probe >>> 0) * bits * 2 ** -32) | 0;

const stepOf = (term: number): number => mixBits(term ^ 0x5bd1e995) | 1;
