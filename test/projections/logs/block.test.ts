/** Blocks give back what was put in, and their summaries never deny what they hold. */
import { expect } from 'chai';
import fc from 'fast-check';
import { EVERYTHING } from '../../../domain/logs/filter.js';
import { levelBit } from '../../../domain/logs/levels.js';
import { comparePlaces, idOf } from '../../../domain/logs/place.js';
import { understand } from '../../../domain/logs/record.js';
import { termsOf, termsOfFilter } from '../../../domain/logs/words.js';
import { buildBlock, openBlock } from '../../../projections/logs/block.js';
import { growTermFilter, makeTermFilter, mayHold } from '../../../projections/logs/term-filter.js';
import { NOON, record } from '../../domain/logs/arbitrary.js';

const batches = fc.array(fc.array(record, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 5 });

describe('a block', () => {
  it('gives back its records with their places, in the order of answers', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const block = buildBlock('api');
        const put = all.flatMap((records, batch) =>
          records.map((data, place) => {
            const position = BigInt(batch * 7 + 1);
            const one = understand(JSON.parse(JSON.stringify(data)), 'api', NOON);
            block.add(one, JSON.stringify(one.data), position, place);
            return { ...one, id: idOf(position, place) };
          }),
        );
        const open = openBlock([block.text()]);
        expect(open.order.map((index) => open.record(index))).to.deep.equal(put.toSorted(comparePlaces));
        for (const index of open.order) {
          expect(open.level(index)).to.equal(open.record(index).level);
          expect(open.instant(index)).to.equal(open.record(index).instant);
        }
      }),
    );
  });

  it('is summed up truly', () => {
    fc.assert(
      fc.property(batches, (all) => {
        const block = buildBlock('api');
        const records = all.flat().map((data) => understand(data, 'api', NOON));
        for (const [place, each] of records.entries()) block.add(each, JSON.stringify(each.data), 1n, place);
        const { from, to, count, levels, correlations, terms } = block.summary();
        expect([from, to, count]).to.deep.equal([
          Math.min(...records.map(({ instant }) => instant)),
          Math.max(...records.map(({ instant }) => instant)),
          records.length,
        ]);
        expect(levels).to.equal(records.reduce((bits, { level }) => bits | levelBit(level), 0));
        for (const { correlationId } of records)
          if (correlationId) expect(correlations).to.include(correlationId);
        for (const each of records) termsOf(each, (term) => expect(mayHold(terms, term)).to.equal(true));
      }),
    );
  });
});

describe('a term filter', () => {
  it('holds all terms while they become more, and is the same however often it was asked for', () => {
    const often = growTermFilter();
    for (let term = 1; term <= 3000; term++) {
      often.add(term * 7919);
      often.add(term * 7919);
      if (term % 7 > 0) continue;
      const filter = often.filter();
      for (let each = Math.max(1, term - 20); each <= term; each++)
        expect(mayHold(filter, each * 7919), `${each} of ${term}`).to.equal(true);
      if (term % 147 > 0) continue;
      const once = growTermFilter();
      for (let each = 1; each <= term; each++) once.add(each * 7919);
      expect(Buffer.from(filter).equals(once.filter()), `${term}`).to.equal(true);
    }
    expect(often.terms.size).to.equal(3000);
  });

  it('errs for few of the terms it does not hold', () => {
    const terms = (from: number) =>
      Array.from({ length: 5000 }, (_, n) =>
        termsOfFilter({ ...EVERYTHING, words: [`w${from + n}`] }),
      ).flat();
    const filter = makeTermFilter(new Set(terms(0)));
    expect(terms(0).every((term) => mayHold(filter, term))).to.equal(true);
    expect(terms(5000).filter((term) => mayHold(filter, term)).length).to.be.lessThan(50);
  });
});
