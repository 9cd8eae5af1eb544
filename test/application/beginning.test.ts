/** Where the reading of a stream begins whose events say all of its state now and then. */
import { expect } from 'chai';
import { findReplayStart, LOOKBACK_EVENTS } from '../../application/command/replay-start.js';
import type { EventLog, RecordedEvent } from '../../application/ports/index.js';

describe('the reading of a stream', () => {
  /** Of so many events, of which those at these revisions say all. */
  function streamOf(count: number, whole: readonly number[]) {
    const all = Array.from({ length: count }, (_, revision) => {
      const type = whole.includes(revision) ? 'Whole' : 'Little';
      return { revision, type } as RecordedEvent;
    });
    const counted = { read: 0 };
    const read: EventLog['read'] = async (_, { from = count - 1, limit = count } = {}) => {
      const found = all.slice(Math.max(from + 1 - limit, 0), from + 1).reverse();
      counted.read += found.length;
      return found;
    };
    return { log: { read }, counted };
  }
  const isSnapshotEvent = ({ type }: RecordedEvent) => type === 'Whole';

  it('begins with one of the newest events that say all, or of those up to a revision', async () => {
    const whole = [3, 450, 500, 901];
    const { log } = streamOf(1000, whole);
    for (const [newest, until] of [[901], [500, 900], [500, 500], [450, 499], [3, 449], [3, 3], [0, 2]]) {
      const begun = await findReplayStart(log, { isSnapshotEvent }, 'toys.box-1', until);
      expect([0, ...whole]).to.include(begun);
      expect(begun, `${newest}`).to.be.within(newest! - 200, newest!);
    }
  });

  it('begins with the first where none says all, or none can', async () => {
    expect(await findReplayStart(streamOf(1000, []).log, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
    const { log, counted } = streamOf(1000, [500]);
    expect(await findReplayStart(log, {}, 'toys.box-1')).to.equal(0);
    expect(counted.read).to.equal(0);
    for (const none of ['missing', 'deleted'] as const)
      expect(await findReplayStart({ read: async () => none }, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
  });

  it('begins with the first, too, where so many events say little: nobody looks behind those', async () => {
    expect(await findReplayStart(streamOf(LOOKBACK_EVENTS, [0]).log, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
    expect(
      await findReplayStart(streamOf(LOOKBACK_EVENTS + 100, [101]).log, { isSnapshotEvent }, 'toys.box-1'),
      'just before',
    ).to.equal(101);
    const { log, counted } = streamOf(3 * LOOKBACK_EVENTS, [5]);
    expect(await findReplayStart(log, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
    expect(counted.read).to.equal(LOOKBACK_EVENTS);
  });
});
