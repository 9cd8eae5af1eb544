/** Tests key ranges as lmdb returns them from pages that a failing disk has changed. */
import { expect } from 'chai';
import { verifyRange } from '../../supervisor/safe-range.js';

describe('a range of keys', () => {
  const key = (place: number) => Buffer.from([place]);
  const range = (keys: readonly number[], reverse: boolean) => {
    const [start, end] = reverse ? [key(9), key(0)] : [key(0), key(9)];
    const intact = { getKeys: () => [] };
    return [...verifyRange(intact, { start, end, reverse }, keys.map(key), (each) => each)].map(([place]) => place);
  };

  it('is returned as stored, in either direction', () => {
    expect(range([1, 4, 7], false)).to.deep.equal([1, 4, 7]);
    expect(range([7, 4, 1], true)).to.deep.equal([7, 4, 1]);
  });

  for (const [what, keys] of [
    ['an earlier page', [1, 4, 1, 4, 7]],
    ['a later page', [1, 6, 7, 6, 7]],
    ['the page before it', [1, 1]],
  ] as const)
    it(`is refused if ${what} replaces a page`, () => {
      expect(() => range(keys, false)).to.throw(/MDB_CORRUPTED/);
      expect(() => range(keys.toReversed(), true)).to.throw(/MDB_CORRUPTED/);
    });
});
