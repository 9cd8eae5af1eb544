/** What a node has acknowledged is waited for by its readers, however much of it there is. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createProjectionProgress } from '../../../application/consistency/projection-progress.js';

describe('what a node has acknowledged', () => {
  const never = async () => undefined;

  it('is known of a stream, whatever comes late', () => {
    const projectionProgress = createProjectionProgress(never);
    projectionProgress.appended('toys.box-1', 5n);
    projectionProgress.appended('toys.box-1', 3n);
    projectionProgress.appended('toys.box-2', 9n);
    expect(projectionProgress.latest(['toys.box-1'])).to.equal(5n);
    expect(projectionProgress.latest(['toys.box-1', 'toys.box-2', 'toys.box-3'])).to.equal(9n);
    expect([projectionProgress.latestOf('toys'), projectionProgress.latestOf('games')]).to.deep.equal([9n, 0n]);
  });

  it('is never taken for seen, nor remembered without end, where nothing tells how far the projections are', () => {
    const projectionProgress = createProjectionProgress(never);
    const streams = 50_000;
    for (let at = 1; at <= streams; at++) projectionProgress.appended(`toys.box-${at}`, BigInt(at));
    for (const at of [1, 20_000, 39_999, 45_000, streams]) {
      const latest = projectionProgress.latest([`toys.box-${at}`]);
      expect(latest >= BigInt(at), `box ${at}`).to.equal(true);
    }
    // The newest are known by themselves; the rest by one position of them all.
    expect(projectionProgress.latest([`toys.box-${streams - 1}`])).to.equal(BigInt(streams - 1));
    expect(projectionProgress.latest(['toys.box-1'])).to.equal(projectionProgress.latest(['toys.box-2']));
    expect(projectionProgress.latest(['games.box-1'])).to.equal(0n);
  });

  it('is asked of the store only while no projector of the node tells it', async () => {
    const asked: string[] = [];
    const projectionProgress = createProjectionProgress(async (projection) => {
      asked.push(projection);
      return undefined;
    });
    const most = 60_000;
    const waits = ['toys.contents', 'games.table'].map((each) => projectionProgress.wait(each, 1_000_000n, most));
    const times = (name: string) => asked.filter((each) => each === name).length;
    // A write may take as long as several polls: it is told of no more often.
    projectionProgress.advanced('toys.contents', 1n);
    while (times('games.table') < 5) await setImmediate();
    expect(times('toys.contents')).to.equal(0);
    // It has stopped: another node's may have gone on.
    while (times('toys.contents') === 0) await setImmediate();
    for (const each of ['toys.contents', 'games.table']) projectionProgress.advanced(each, 1_000_000n);
    expect(await Promise.all(waits)).to.deep.equal([true, true]);
  });
});
