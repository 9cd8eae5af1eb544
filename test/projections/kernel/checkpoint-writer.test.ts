/** The checkpoint writer saves positions that changed, with retries. */
import { setImmediate as yieldOnce } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createCheckpointWriter } from '../../../projections/kernel/projector.js';
import { useFakeTimers } from '../../support/fake-clock.js';

describe('the checkpoint writer', () => {
  it('saves only positions that changed, and all of a failed attempt again', async () => {
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

  it('backs off on failures up to 5 s, and starts over after a success', async () => {
    const waits: number[] = [];
    const build = { collection: 'a', position: 3n, onAdvance: () => {} };
    const release = useFakeTimers({
      after(ms, work) {
        waits.push(ms);
        setImmediate(work);
        return () => {};
      },
    });
    try {
      let refused = 0;
      const saving = createCheckpointWriter([build], {
        async advance() {
          if (waits.length > 9) return true;
          throw new Error('away');
        },
        refused: () => {},
        failed: () => void refused++,
      });
      while (waits.length < 10) await yieldOnce();
      await yieldOnce();
      expect(refused).to.equal(9);
      build.position = 4n;
      build.onAdvance();
      await saving.end();
    } finally {
      release();
    }
    expect(waits).to.deep.equal([50, 100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 50]);
  });
});
