/** Bloom filters of the search indexes: no false negatives, and few false positives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { makeBloomFilter, mayContain } from '../../../../projections/kernel/block-index/bloom-filter.js';

describe('a Bloom filter', () => {
  const TERMS = 5000;
  const term = (index: number) => Math.imul(index + 1, 0x9e3779b1);

  it('may contain every term that was put into it', () => {
    const terms = fc.uniqueArray(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), { maxLength: 300 });
    const bits = fc.nat({ max: 4000 });
    fc.assert(
      fc.property(terms, bits, (all, size) => {
        const filter = makeBloomFilter(all, size);
        for (const each of all) expect(mayContain(filter, each)).to.equal(true);
      }),
    );
  });

  for (const [bits, oneIn] of [
    [8, 45],
    [12, 220],
  ] as const)
    it(`has one false positive in ${oneIn} other terms with ${bits} bits per term`, () => {
      const all = Array.from({ length: TERMS }, (_, index) => term(index));
      const filter = makeBloomFilter(all, bits * TERMS);
      const others = Array.from({ length: 90_000 }, (_, index) => term(TERMS + index));
      const taken = others.filter((each) => mayContain(filter, each)).length;
      expect(others.length / taken).to.be.within(oneIn * 0.8, oneIn * 1.25);
    });

  it('contains nothing when it is empty', () => {
    expect(mayContain(makeBloomFilter([], 0), 7)).to.equal(false);
  });
});
