/** Projection progress knows the last acknowledged position of every stream, with bounded memory. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createProjectionProgress } from '../../../application/consistency/projection-progress.js';

describe('the acknowledged position of a stream', () => {
  const never = async () => undefined;

  it('is the highest, even if appends are reported out of order', () => {
    const projectionProgress = createProjectionProgress(never);
    projectionProgress.appended('toys.box-1', 5n);
    projectionProgress.appended('toys.box-1', 3n);
    projectionProgress.appended('toys.box-2', 9n);
    expect(projectionProgress.latest(['toys.box-1'])).to.equal(5n);
    expect(projectionProgress.latest(['toys.box-1', 'toys.box-2', 'toys.box-3'])).to.equal(9n);
    expect([projectionProgress.latestOf('toys'), projectionProgress.latestOf('games')]).to.deep.equal([9n, 0n]);
  });

  it('is never too low with bounded memory, even without any projection progress', () => {
    const projectionProgress = createProjectionProgress(never);
    const streams = 50_000;
    for (let at = 1; at <= streams; at++) projectionProgress.appended(`toys.box-${at}`, BigInt(at));
    for (const at of [1, 20_000, 39_999, 45_000, streams]) {
      const latest = projectionProgress.latest([`toys.box-${at}`]);
      expect(latest >= BigInt(at), `box ${at}`).to.equal(true);
    }
    // The newest streams have their own position, the others share one.
    expect(projectionProgress.latest([`toys.box-${streams - 1}`])).to.equal(BigInt(streams - 1));
    expect(projectionProgress.latest(['toys.box-1'])).to.equal(projectionProgress.latest(['toys.box-2']));
    expect(projectionProgress.latest(['games.box-1'])).to.equal(0n);
  });

  it('is polled from the store only while no local projector reports progress', async () => {
    const polled: string[] = [];
    const projectionProgress = createProjectionProgress(async (projection) => {
      polled.push(projection);
      return undefined;
    });
    const timeoutMs = 60_000;
    const waits = ['toys.contents', 'games.table'].map((each) => projectionProgress.wait(each, 1_000_000n, timeoutMs));
    const times = (name: string) => polled.filter((each) => each === name).length;
    // A local projector may report less often than the store is polled.
    projectionProgress.advanced('toys.contents', 1n);
    while (times('games.table') < 5) await setImmediate();
    expect(times('toys.contents')).to.equal(0);
    // The local projector has stopped; another node may continue its work.
    while (times('toys.contents') === 0) await setImmediate();
    for (const each of ['toys.contents', 'games.table']) projectionProgress.advanced(each, 1_000_000n);
    expect(await Promise.all(waits)).to.deep.equal([true, true]);
  });
});
