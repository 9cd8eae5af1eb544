/** How far builds have come is saved when it has moved, and of those alone that have. */
import { expect } from 'chai';
import { keepSaved } from '../../projections/saving.js';
import { eventually } from '../support/condition.js';

describe('how far builds have come', () => {
  it('is saved of those alone that have moved, and of all of them again where it was not', async () => {
    const builds = ['a', 'b'].map((collection) => ({ collection, position: 3n, moved: () => {} }));
    const [a] = builds as [(typeof builds)[0]];
    const saved: object[] = [];
    let isAway = true;
    const saving = keepSaved(builds, {
      async advance(positions) {
        saved.push(positions);
        if (!isAway) return true;
        isAway = false;
        throw new Error('away');
      },
      refused: () => {},
      failed: () => {},
    });
    await eventually(() => saved.length === 2);
    a.position = 4n;
    a.moved();
    await saving.end();
    expect(saved.slice(0, 2)).to.deep.equal([
      { a: 3n, b: 3n },
      { a: 3n, b: 3n },
    ]);
    expect(saved.slice(2).filter((each) => Object.keys(each).length > 0)).to.deep.equal([{ a: 4n }]);
  });
});
