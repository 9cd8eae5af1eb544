/** Bloom filter of 32-bit terms. It must be stored encrypted, as terms can be guessed. */

/** With 8 bits per term about 1 in 45 lookups is a false positive. */
const PROBES = 5;

export function makeBloomFilter(terms: Iterable<number>, bits: number): Uint8Array {
  const filter = emptyBloomFilter(bits);
  for (const term of terms) putTerm(filter, term);
  return filter;
}

export const emptyBloomFilter = (bits: number): Uint8Array => new Uint8Array(Math.ceil(bits / 8) + 1);

export function putTerm(filter: Uint8Array, term: number): void {
  const bits = filter.length * 8;
  let [probe, step] = [mix(term), stepOf(term)];
  for (let probes = 0; probes < PROBES; probes++) {
    const bit = bitOf(probe, bits);
    filter[bit >>> 3]! |= 1 << (bit & 7);
    probe = (probe + step) | 0;
  }
}

/** False means certainly absent. */
export function mayContain(filter: Uint8Array, term: number): boolean {
  const bits = filter.length * 8;
  let [probe, step] = [mix(term), stepOf(term)];
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

const stepOf = (term: number): number => mix(term ^ 0x5bd1e995) | 1;

function mix(term: number): number {
  let value = Math.imul(term ^ (term >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return value ^ (value >>> 16);
}
