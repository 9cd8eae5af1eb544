/** The most frequent values: within the error bounds of the space-saving algorithm, in any order of input. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  createFrequentValues,
  type FrequentValues,
  OTHER,
  type SerializedList,
} from '../../../domain/analytics/frequent-values.js';

const MANY = Number.MAX_SAFE_INTEGER;
const reread = (list: FrequentValues): SerializedList => JSON.parse(JSON.stringify(list.serialize()));
const sum = (counts: Iterable<number>) => [...counts].reduce((all, each) => all + each, 0);

function exactly(values: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** A few values occur often, most once or twice, in any order. */
const streams = fc.array(
  fc.oneof(
    fc.nat(4).map((n) => `often-${n}`),
    fc.nat(400).map((n) => `rare-${n}`),
  ),
  { maxLength: 600 },
);

describe('the most frequent values', () => {
  it('have exact counts as long as all values fit', () => {
    fc.assert(
      fc.property(streams, (values) => {
        const list = createFrequentValues({ values: 1000, characters: MANY });
        for (const value of values) list.add(value);
        expect(new Map(list.serialize().map(([value, count]) => [value, count]))).to.deep.equal(exactly(values));
      }),
    );
  });

  it('include every value above the error bound, undercount within it, and sum to the total', () => {
    fc.assert(
      fc.property(streams, fc.integer({ min: 1, max: 40 }), (values, capacity) => {
        const list = createFrequentValues({ values: capacity, characters: MANY });
        for (const value of values) list.add(value);
        const exact = exactly(values);
        const written = list.serialize();
        const errorBound = values.length / capacity;
        expect(list.size).to.be.at.most(capacity);
        expect(sum(written.map(([, count]) => count))).to.equal(values.length);
        for (const [value, count, error = 0] of written) {
          if (value === OTHER) continue;
          expect(error, value).to.be.at.most(errorBound);
          expect(exact.get(value), value).to.be.within(count, count + error);
        }
        const included = new Set(written.map(([value]) => value));
        for (const [value, count] of exact) if (count > errorBound) expect(included, value).to.include(value);
      }),
      { numRuns: 300 },
    );
  });

  it('are unchanged when serialized in between, also when bounded by characters', () => {
    const values = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 1, max: 12 })), { maxLength: 200 });
    fc.assert(
      fc.property(values, fc.array(fc.nat(200), { maxLength: 8 }), (all, pauses) => {
        const bounds = { values: 10, characters: 60 };
        const live = createFrequentValues(bounds);
        let resumed = createFrequentValues(bounds);
        for (const [index, [n, length]] of all.entries()) {
          const value = `${n}${'x'.repeat(length)}`;
          live.add(value);
          if (pauses.includes(index)) resumed = createFrequentValues(bounds, reread(resumed));
          resumed.add(value);
        }
        expect(resumed.serialize()).to.deep.equal(live.serialize());
        expect(live.characters).to.be.at.most(60);
        expect(sum(live.serialize().map(([, count]) => count))).to.equal(all.length);
        const exact = exactly(all.map(([n, length]) => `${n}${'x'.repeat(length)}`));
        for (const [value, count, error = 0] of live.serialize())
          if (value !== OTHER) expect(exact.get(value), value).to.be.within(count, count + error);
      }),
      { numRuns: 500 },
    );
  });

  it('evict the oldest of the smallest counts first', () => {
    const list = createFrequentValues({ values: 3, characters: MANY });
    for (const value of ['a', 'b', 'c', 'a', 'd', 'e']) list.add(value);
    expect(list.serialize()).to.deep.equal([
      ['a', 2],
      ['d', 1, 1],
      ['e', 1, 1],
      [OTHER, 2],
    ]);
  });

  it('are counted about as fast for unique values as for repeated ones', () => {
    const once = (textOf: (n: number) => string) => {
      const list = createFrequentValues({ values: 1000, characters: 96 * 1024 });
      const values = Array.from({ length: 100_000 }, (_, n) => textOf(n));
      const began = performance.now();
      for (const value of values) list.add(value);
      return performance.now() - began;
    };
    const time = (textOf: (n: number) => string) => Math.min(...[1, 2, 3].map(() => once(textOf)));
    const usual = time((n) => `/${n % 400}`);
    // A linear scan of the list for each value would take several hundred times as long.
    for (const flood of [
      (n: number) => `/${n}`,
      (n: number) => `/${n}/${'x'.repeat(n % 7 === 0 ? 290 : 1)}`,
      (n: number) => `/${Math.floor(n / 97)}`,
    ])
      expect(time(flood)).to.be.below(50 * usual + 50);
  });
});
