/** How far back streams can be resumed, whatever the log holds. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Checkpoints, Position } from '../../application/ports.js';
import { createWindow, readWindow, saveWindows } from '../../application/window.js';

const MOST = 500;

describe('the window of a service', () => {
  it('has every event of the service behind its horizon, to be read from where it says, and not too many', () => {
    const step = fc.record({
      mine: fc.integer({ min: 0, max: 300 }),
      others: fc.integer({ min: 0, max: 50 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(2000), (steps, back) => {
        const window = createWindow({ horizon: 10n, from: 20n });
        const mine: bigint[] = [];
        let position = 20n;
        for (const { mine: count, others } of steps) {
          for (let each = 0; each < count; each++) {
            position += 3n;
            mine.push(position);
            window.pass(position);
          }
          position += BigInt(others);
          window.leave(position - BigInt(back));
          const missed = mine.filter((each) => each > window.horizon);
          const read = mine.filter((each) => each > window.from);
          expect(read).to.deep.equal(missed);
          expect(read.length).to.be.at.most(MOST);
          expect(window.last).to.equal(mine.at(-1) ?? 10n);
          // What is within both bounds is not given up.
          const kept = mine.slice(-MOST).filter((each) => each > position - BigInt(back));
          expect(missed).to.include.members(kept);
        }
      }),
    );
  });

  it('does not move its horizon for events of others', () => {
    const window = createWindow({ horizon: 10n, from: 10n });
    window.pass(20n);
    window.leave(90_000n);
    expect([window.horizon, window.from]).to.deep.equal([20n, 90_000n]);
  });

  it('is read whole while another node saves it: nothing between its horizon and its beginning is left out', async () => {
    for (const savedAfter of [0, 1, 2]) {
      const kept = new Map<string, Position>();
      let reads = 0;
      const checkpoints: Checkpoints = {
        async read(name) {
          const found = kept.get(name);
          if (++reads === savedAfter) await save(300n);
          return found;
        },
        async advance(positions) {
          for (const [name, position] of Object.entries(positions)) kept.set(name, position);
          return true;
        },
        async forget() {},
      };
      const save = (at: Position) => saveWindows(checkpoints, new Map([['toys', { horizon: at, from: at }]]));
      await save(100n);
      const { horizon, from } = await readWindow(checkpoints, 'toys', 1000n);
      expect(from <= horizon, `${from} to ${horizon}, saved after read ${savedAfter}`).to.equal(true);
    }
  });
});
