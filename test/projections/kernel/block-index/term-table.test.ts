/** The term set behaves like a map of terms to chunks, in insertion order; tables of it have no false negatives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { chunkBit, createTermSet } from '../../../../projections/kernel/block-index/term-set.js';
import {
  chunksWithAll,
  decodeTermTable,
  encodeTermSections,
  encodeTermTable,
  termSection,
} from '../../../../projections/kernel/block-index/term-table.js';

const term = fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.integer({ min: -9, max: 9 }));
/** Terms with a chunk each: more chunks than are told apart. */
const added = fc.array(fc.tuple(term, fc.integer({ min: 0, max: 15 })), { maxLength: 3000, size: 'max' });

describe('the term set', () => {
  it('contains each term once with its chunks, in insertion order', () => {
    fc.assert(
      fc.property(added, (all) => {
        const [set, truth] = [createTermSet(), new Map<number, number>()];
        for (const [each, chunk] of all) {
          set.add(each, chunk);
          truth.set(each, (truth.get(each) ?? 0) | chunkBit(chunk));
        }
        const found: [number, number][] = [];
        set.forEach((...entry) => void found.push(entry));
        expect(found).to.deep.equal([...truth]);
        expect(set.size).to.equal(truth.size);
      }),
      { numRuns: 50 },
    );
  });

  it('is stored in tables that rule out no chunk with all terms', () => {
    fc.assert(
      fc.property(added, (all) => {
        const set = createTermSet();
        for (const [each, chunk] of all) set.add(each, chunk);
        const whole = decodeTermTable(encodeTermTable(set));
        const sections = encodeTermSections(set);
        const lastOf = new Map<number, number>();
        for (const [each, chunk] of all) {
          const together = [each, lastOf.get(chunk) ?? each];
          expect(chunksWithAll(whole, together)(chunk)).to.equal(true);
          const section = decodeTermTable(sections.get(termSection(each))!);
          expect(chunksWithAll(section, [each])(chunk)).to.equal(true);
          lastOf.set(chunk, each);
        }
      }),
      { numRuns: 20 },
    );
  });
});
