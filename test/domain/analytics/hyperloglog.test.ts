/** Unique visitors: exact for small counts, within 2 % for large ones, independent of order and node. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  addVisitors,
  countUniques,
  emptySketch,
  isCounted,
  type Sketch,
} from '../../../domain/analytics/hyperloglog.js';

/** 32 pseudo-random bits (the finalizer of MurmurHash 3), since real digests would dominate the test time. */
function mixed(number: number): string {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return ((bits ^ (bits >>> 16)) >>> 0).toString(16).padStart(8, '0');
}
const visitor = (number: number, run = 0) =>
  mixed(number + 0x9e3779b9 * (run + 1)) + mixed(Math.imul(number, 0x27d4eb2f) + 0x165667b1 * (run + 1));
const visitorRange = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => visitor(from + index));
const of = (visitors: Iterable<string>) => addVisitors(emptySketch, visitors);
const expectWithin = (sketch: Sketch, truth: number, share: number) =>
  expect(countUniques(sketch)).to.be.within(truth * (1 - share), truth * (1 + share));

describe('the unique visitor sketch', () => {
  it('counts exactly below a thousand', () => {
    for (const many of [0, 1, 10, 999]) expect(countUniques(of(visitorRange(0, many)))).to.equal(many);
  });

  for (const many of [10, 1000, 3000, 20_000, 100_000]) {
    it(`counts within 2 % of ${many}`, () => expectWithin(of(visitorRange(0, many)), many, 0.02));
  }

  it('has an average error below 1 % at every size', () => {
    for (const many of [2000, 10_000, 50_000]) {
      const errors = Array.from({ length: 6 }, (_, run) => {
        const sketch = of(Array.from({ length: many }, (_, index) => visitor(index, run)));
        return countUniques(sketch) / many - 1;
      });
      const bias = errors.reduce((sum, each) => sum + each, 0) / errors.length;
      expect(Math.abs(bias), `bias at ${many}`).to.be.lessThan(0.008);
    }
  });

  it('counts a repeated visitor once', () => {
    const all = visitorRange(0, 5000);
    expect(of([...all, ...all])).to.deep.equal(of(all));
  });

  it('depends on the visitors only, not on their order or grouping', () => {
    const some = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 2500 });
    fc.assert(
      fc.property(some, some, some, (a, b, c) => {
        const [x, y, z] = [a, b, c].map((each) => each.map((id) => visitor(id))) as [string[], string[], string[]];
        const together = of([...z, ...x, ...y]);
        expect(addVisitors(addVisitors(of(x), y), z)).to.deep.equal(together);
        expect(addVisitors(addVisitors(of(z), x), y)).to.deep.equal(together);
      }),
      { numRuns: 30 },
    );
  });

  it('recognises visitors already counted', () => {
    for (const many of [500, 5000]) {
      const sketch = of(visitorRange(0, many));
      for (const each of visitorRange(0, many)) expect(isCounted(sketch, each)).to.equal(true);
      const fresh = visitorRange(many, 2 * many).filter((each) => !isCounted(sketch, each));
      expect(addVisitors(sketch, fresh)).to.deep.equal(of(visitorRange(0, 2 * many)));
    }
    expect(isCounted(emptySketch, visitor(1))).to.equal(false);
  });

  it('uses all bits of a digest, so that it can count billions', () => {
    const many = of(visitorRange(0, 2000));
    const rarer = Array.from({ length: 51 }, (_, zeros) =>
      ((2n ** 50n) >> BigInt(zeros + 1)).toString(16).padStart(16, '0'),
    );
    let sketch = many;
    for (const each of rarer.slice(10)) {
      expect(isCounted(sketch, each), each).to.equal(false);
      sketch = addVisitors(sketch, [each]);
    }
  });

  it('has a fixed size for many visitors', () => {
    const sketch = of(visitorRange(0, 50_000));
    expect(sketch).to.have.property('registers').with.lengthOf(16_384);
  });
});
