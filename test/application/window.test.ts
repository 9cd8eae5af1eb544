/** How far back streams can be resumed, whatever the log holds. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createWindow, readWindow, type WindowStart } from '../../application/window.js';

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
          window.reach(position);
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

  it('is not read again from before what others have written since its last event, and loses none of its own', () => {
    const window = createWindow({ horizon: 10n, from: 10n });
    window.reach(70_000n);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
    window.pass(80_000n);
    window.reach(90_000n);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
  });

  it('ends where the log ends, which may be a backup’s, and begins with the read models where none was left', async () => {
    const left = (start?: WindowStart) => ({ read: async () => start });
    expect(await readWindow(left(), 'toys', 100n, 30n)).to.deep.equal({ horizon: 30n, from: 30n });
    const start = { horizon: 40n, from: 60n };
    expect(await readWindow(left(start), 'toys', 100n, 30n)).to.deep.equal(start);
    expect(await readWindow(left(start), 'toys', 50n, 30n)).to.deep.equal({ horizon: 40n, from: 50n });
    expect(await readWindow(left(start), 'toys', 20n, 30n)).to.deep.equal({ horizon: 20n, from: 20n });
  });
});
