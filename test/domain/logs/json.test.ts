/** What JSON is an object, and how deep it may go. */
import { expect } from 'chai';
import { isObject, isShallow, type Json } from '../../../domain/logs/json.js';

const nested = (levels: number): Json => (levels === 0 ? 'leaf' : { a: 1, in: nested(levels - 1), b: true });

describe('JSON', () => {
  it('is an object with names, not a list, nothing, or a value', () => {
    expect(isObject({})).to.equal(true);
    for (const other of [[], null, undefined, 'text', 7, true, () => {}])
      expect(isObject(other)).to.equal(false);
  });

  it('is shallow as long as no value lies deeper than so many levels', () => {
    for (const value of ['text', 7, true, null]) expect(isShallow(value, 0)).to.equal(true);
    expect(isShallow({}, 0)).to.equal(false);
    expect(isShallow([], 0)).to.equal(false);
    for (const levels of [2, 3, 64]) {
      expect(isShallow(nested(levels), levels)).to.equal(true);
      expect(isShallow(nested(levels), levels - 1)).to.equal(false);
    }
    // Wherever it is: first, last, in a list.
    expect(isShallow([1, [2, [3]]], 2)).to.equal(false);
    expect(isShallow({ deep: { deeper: {} }, flat: 1 }, 2)).to.equal(false);
    expect(isShallow({ flat: 1, deep: { deeper: {} } }, 3)).to.equal(true);
  });
});
