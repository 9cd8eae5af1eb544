/** The resume window: how far back clients can resume, bounded by count, size and age. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createResumeWindow, readResumeWindow, type WindowStart } from '../../../application/subscription/live-feed.js';

const MAX_EVENTS = 500;
const MAX_MEGABYTES = 16;
const MAX_MINUTES = 15;
const MINUTE = 60_000;

/** An event of the service. */
const event = (position: bigint, minute = 0, megabytes = 0) => ({
  position,
  minute,
  megabytes,
  recordedAt: minute * MINUTE,
  data: { secret: TEXTS[megabytes] ?? '' },
});
const TEXTS = [0, 1, 2, 3, 4, 5].map((megabytes) => 'x'.repeat(megabytes << 20));

describe('the resume window of a service', () => {
  it('contains all events of the service after its horizon, within its bounds', () => {
    const step = fc.record({
      own: fc.integer({ min: 0, max: 300 }),
      others: fc.integer({ min: 0, max: 50 }),
      minutes: fc.nat(20),
      megabytes: fc.constantFrom(0, 0, 0, 1, 5),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const window = createResumeWindow({ horizon: 10n, from: 20n });
        const own: ReturnType<typeof event>[] = [];
        let [position, minute] = [20n, 0];
        for (const { own: count, others, minutes, megabytes } of steps) {
          for (let each = 0; each < count; each++) {
            position += 3n;
            own.push(event(position, minute, megabytes));
            window.record(own.at(-1)!);
          }
          position += BigInt(others);
          minute += minutes;
          window.advanceTo(position, minute * MINUTE);
          const missed = own.filter((each) => each.position > window.horizon);
          expect(own.filter((each) => each.position > window.from)).to.deep.equal(missed);
          expect(missed.length).to.be.at.most(MAX_EVENTS);
          expect(missed.reduce((sum, each) => sum + each.megabytes, 0)).to.be.at.most(MAX_MEGABYTES);
          expect(window.last).to.equal(own.at(-1)?.position ?? 10n);
          // Events within all bounds stay in the window.
          let room = MAX_MEGABYTES;
          const recent = own.slice(-MAX_EVENTS).filter((each) => each.minute >= minute - MAX_MINUTES);
          for (const each of recent.toReversed()) {
            room -= each.megabytes + 0.001;
            if (room < 0) break;
            expect(each.position > window.horizon).to.equal(true);
          }
        }
      }),
    );
  });

  it('does not move for events of other services within its maximum age', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    window.record(event(20n));
    window.advanceTo(9_000_000n, MAX_MINUTES * MINUTE);
    expect([window.horizon, window.from]).to.deep.equal([10n, 10n]);
    window.advanceTo(9_000_001n, MAX_MINUTES * MINUTE + 1);
    expect([window.horizon, window.from]).to.deep.equal([20n, 9_000_001n]);
  });

  it('starts reading after events of other services, without losing its own events', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    window.advanceTo(70_000n, 0);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
    window.record(event(80_000n));
    window.advanceTo(90_000n, 0);
    expect([window.horizon, window.from]).to.deep.equal([10n, 70_000n]);
  });

  it('does not count a repeated event', () => {
    const window = createResumeWindow({ horizon: 10n, from: 10n });
    for (const position of [20n, 30n, 20n, 30n]) window.record(event(position, 0, 5));
    expect([window.last, window.horizon]).to.deep.equal([30n, 10n]);
  });

  it('is limited by the end of the log, and starts at the read models if none was saved', async () => {
    const savedWindows = (start?: WindowStart) => ({ read: async () => start });
    expect(await readResumeWindow(savedWindows(), 'toys', 100n, 30n)).to.deep.equal({ horizon: 30n, from: 30n });
    const start = { horizon: 40n, from: 60n };
    expect(await readResumeWindow(savedWindows(start), 'toys', 100n, 30n)).to.deep.equal(start);
    expect(await readResumeWindow(savedWindows(start), 'toys', 50n, 30n)).to.deep.equal({ horizon: 40n, from: 50n });
    expect(await readResumeWindow(savedWindows(start), 'toys', 20n, 30n)).to.deep.equal({ horizon: 20n, from: 20n });
  });
});
