/** How far back streams can be resumed, whatever the log holds. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createResumeWindow, readResumeWindow, type WindowStart } from '../../../application/subscription/live-feed.js';

const MOST = 500;
const MOST_MEGABYTES = 16;
const MOST_MINUTES = 15;
const MINUTE = 60_000;

/** Of the service. */
const event = (position: bigint, minute = 0, megabytes = 0) => ({
  position,
  minute,
  megabytes,
  recordedAt: minute * MINUTE,
  data: { secret: TEXTS[megabytes] ?? '' },
});
const TEXTS = [0, 1, 2, 3, 4, 5].map((megabytes) => 'x'.repeat(megabytes << 20));

describe('the window of a service', () => {
  it('has every event of the service behind its horizon, to be read from where it says, and not too many', () => {
    const step = fc.record({
      mine: fc.integer({ min: 0, max: 300 }),
      others: fc.integer({ min: 0, max: 50 }),
      minutes: fc.nat(20),
      megabytes: fc.constantFrom(0, 0, 0, 1, 5),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const window = createResumeWindow({ horizon: 10n, from: 20n });
        const mine: ReturnType<typeof event>[] = [];
        let [position, minute] = [20n, 0];
        for (const { mine: count, others, minutes, megabytes } of steps) {
          for (let each = 0; each < count; each++) {
            position += 3n;
            mine.push(event(position, minute, megabytes));
            window.record(mine.at(-1)!);
          }
          position += BigInt(others);
          minute += minutes;
          window.advanceTo(position, minute * MINUTE);
          const missed = mine.filter((each) => each.position > window.horizon);
          expect(mine.filter((each) => each.position > window.from)).to.deep.equal(missed);
          expect(missed.length).to.be.at.most(MOST);
          expect(missed.reduce((sum, each) => sum + each.megabytes, 0)).to.be.at.most(MOST_MEGABYTES);
          expect(window.last).to.equal(mine.at(-1)?.position ?? 10n);
          // What is within all bounds is not given up.
          let room = MOST_MEGABYTES;
          const kept = mine.slice(-MOST).filter((each) => each.minute >= minute - MOST_MINUTES);
          for (const each of kept.toReversed()) {
            room -= each.megabytes + 0.001;
            if (room < 0) break;
            expect(each.position > window.horizon).to.equal(true);
          }
        }
      }),
    );
  });

  it('does not move for events of others, however many they are, for as long as they are soon', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    window.record(event(20n));
    window.advanceTo(9_000_000n, MOST_MINUTES * MINUTE);
    expect([window.horizon, window.from]).to.deep.equal([10n, 10n]);
    window.advanceTo(9_000_001n, MOST_MINUTES * MINUTE + 1);
    expect([window.horizon, window.from]).to.deep.equal([20n, 9_000_001n]);
  });

  it('is not read again from before what others have written since its last event, and loses none of its own', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    window.advanceTo(70_000n, 0);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
    window.record(event(80_000n));
    window.advanceTo(90_000n, 0);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
  });

  it('does not count an event that comes again', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    for (const position of [20n, 30n, 20n, 30n]) window.record(event(position, 0, 5));
    expect([window.last, window.horizon]).to.deep.equal([30n, 10n]);
  });

  it('ends where the log ends, which may be a backup’s, and begins with the read models where none was left', async () => {
    const left = (start?: WindowStart) => ({ read: async () => start });
    expect(await readResumeWindow(left(), 'toys', 100n, 30n)).to.deep.equal({ horizon: 30n, from: 30n });
    const start = { horizon: 40n, from: 60n };
    expect(await readResumeWindow(left(start), 'toys', 100n, 30n)).to.deep.equal(start);
    expect(await readResumeWindow(left(start), 'toys', 50n, 30n)).to.deep.equal({ horizon: 40n, from: 50n });
    expect(await readResumeWindow(left(start), 'toys', 20n, 30n)).to.deep.equal({ horizon: 20n, from: 20n });
  });
});
