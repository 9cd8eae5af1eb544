/** The term set behaves like a Set with insertion order. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createTermSet } from '../../../../projections/logs/index/term-set.js';

describe('the term set', () => {
  it('contains each term once in insertion order', () => {
    const term = fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.integer({ min: -9, max: 9 }));
    fc.assert(
      fc.property(fc.array(term, { maxLength: 3000, size: 'max' }), (terms) => {
        const [set, truth] = [createTermSet(), new Set<number>()];
        for (const each of terms) {
          expect(set.add(each)).to.equal(!truth.has(each));
          truth.add(each);
        }
        expect([...set.values()]).to.deep.equal([...truth]);
        expect(set.size).to.equal(truth.size);
      }),
      { numRuns: 50 },
    );
  });
});
