/** Where the replay of a stream with snapshot events starts. */
import { expect } from 'chai';
import { findReplayStart } from '../../../application/command/read-stream-pages.js';
import type { EventLog, RecordedEvent } from '../../../application/ports/index.js';

describe('the replay start of a stream', () => {
  /** A stream of `count` events, with snapshot events at the given revisions. */
  function streamOf(count: number, snapshots: readonly number[]) {
    const all = Array.from({ length: count }, (_, revision) => {
      const type = snapshots.includes(revision) ? 'Whole' : 'Little';
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

  it('is the newest snapshot event, or the newest up to a revision', async () => {
    const snapshots = [3, 450, 500, 901];
    const { log } = streamOf(1000, snapshots);
    for (const [newest, until] of [[901], [500, 900], [500, 500], [450, 499], [3, 449], [3, 3], [0, 2]]) {
      const begun = await findReplayStart(log, { isSnapshotEvent }, 'toys.box-1', until);
      expect(begun).to.equal(newest);
    }
  });

  it('is the first event without a snapshot event, or if the aggregate has none', async () => {
    expect(await findReplayStart(streamOf(1000, []).log, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
    const { log, counted } = streamOf(1000, [500]);
    expect(await findReplayStart(log, {}, 'toys.box-1')).to.equal(0);
    expect(counted.read).to.equal(0);
    for (const none of ['missing', 'deleted'] as const)
      expect(await findReplayStart({ read: async () => none }, { isSnapshotEvent }, 'toys.box-1')).to.equal(0);
  });
});
