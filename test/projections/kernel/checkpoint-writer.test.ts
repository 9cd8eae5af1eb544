/** How far builds have come is saved when it has moved, and of those alone that have. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createCheckpointWriter } from '../../../projections/kernel/projector.js';
import { useFakeTimers } from '../../support/fake-clock.js';

describe('how far builds have come', () => {
  it('is saved of those alone that have moved, and of all of them again where it was not', async () => {
    const builds = ['a', 'b'].map((collection) => ({ collection, position: 3n, onAdvance: () => {} }));
    const [a] = builds as [(typeof builds)[0]];
    const saved: object[] = [];
    let isAway = true;
    const saving = createCheckpointWriter(builds, {
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
    a.onAdvance();
    await saving.end();
    expect(saved.slice(0, 2)).to.deep.equal([
      { a: 3n, b: 3n },
      { a: 3n, b: 3n },
    ]);
    expect(saved.slice(2).filter((each) => Object.keys(each).length > 0)).to.deep.equal([{ a: 4n }]);
  });

  it('is tried again ever less often, up to every 5 s, and soon again once it was', async () => {
    const waits: number[] = [];
    const asked = { collection: 'a', position: 3n, onAdvance: () => {} };
    const release = useFakeTimers({
      after(ms, work) {
        waits.push(ms);
        setImmediate(work);
        return () => {};
      },
    });
    try {
      let refused = 0;
      const saving = createCheckpointWriter([asked], {
        async advance() {
          if (waits.length > 9) return true;
          throw new Error('away');
        },
        refused: () => {},
        failed: () => void refused++,
      });
      while (waits.length < 10) await nextTurn();
      await nextTurn();
      expect(refused).to.equal(9);
      asked.position = 4n;
      asked.onAdvance();
      await saving.end();
    } finally {
      release();
    }
    expect(waits).to.deep.equal([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 50]);
  });
});
