/** Read-your-writes: a query waits for this node's writes, the caller's position and the head at the node's start. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import {
  awaitConsistent,
  type Consistency,
  type RequiredWrites,
  withRows,
} from '../../../application/consistency/await-consistent.js';
import {
  createProjectionProgress,
  type ProjectionProgressTracker,
} from '../../../application/consistency/projection-progress.js';
import { type FakeClock, fakeClock, useFakeTimers } from '../../support/fake-clock.js';

describe('a consistent query', () => {
  let time: FakeClock;
  let release: () => void;
  let projectionProgress: ProjectionProgressTracker;

  beforeEach(() => {
    time = fakeClock();
    release = useFakeTimers(time);
    projectionProgress = createProjectionProgress(async () => undefined);
  });
  afterEach(() => {
    time.pass(60_000);
    release();
  });

  /** Expects the query to wait until the rows reach `position`, and not the position before. */
  async function waitsUntil(position: bigint, required: RequiredWrites) {
    let consistency: Consistency | undefined;
    void awaitConsistent(projectionProgress, 'toys.contents', required).then((found) => {
      consistency = found;
    });
    projectionProgress.advanced('toys.contents', position - 1n);
    await setImmediate();
    expect(consistency, `before ${position}`).to.equal(undefined);
    projectionProgress.advanced('toys.contents', position);
    await setImmediate();
    expect(consistency, `at ${position}`).to.deep.equal({ position });
  }

  it('waits for writes of this node to the streams it reads, and no others', async () => {
    projectionProgress.appended('toys.box-1', 5n);
    projectionProgress.appended('toys.box-2', 7n);
    projectionProgress.appended('toys.box-3', 9n);
    await waitsUntil(7n, { streams: ['toys.box-1', 'toys.box-2'] });
    await waitsUntil(9n, { streams: ['toys.box-3', 'toys.box-4'], seenByCaller: 8n });
  });

  it('waits for the position of the caller, and for a given last append', async () => {
    projectionProgress.appended('toys.box-1', 5n);
    await waitsUntil(6n, { streams: ['toys.box-1'], seenByCaller: 6n });
    await waitsUntil(8n, { lastAppend: 8n, seenByCaller: 7n });
    await waitsUntil(11n, { lastAppend: 10n, seenByCaller: 11n });
  });

  it('waits for the head of the log at the start of the node', async () => {
    projectionProgress.startedAt('toys', 4n);
    await waitsUntil(4n, {});
  });

  it('reports "pending" and the position of the rows after 2 s', async () => {
    projectionProgress.advanced('toys.contents', 3n);
    const pending = awaitConsistent(projectionProgress, 'toys.contents', { seenByCaller: 5n });
    projectionProgress.advanced('toys.contents', 4n);
    projectionProgress.advanced('toys.shelf', 5n);
    time.pass(2000);
    expect(await pending).to.deep.equal({ position: 4n, consistency: 'pending' });
  });

  it('reports a position not below that of the rows returned', async () => {
    const rows = [7n, 2n].map((at) => ({ _at: { toBigInt: () => at } }));
    expect(withRows({ position: 4n }, rows)).to.deep.equal({ position: 7n });
    expect(withRows({ position: 9n, consistency: 'pending' }, rows)).to.deep.equal({
      position: 9n,
      consistency: 'pending',
    });
    expect(withRows({ position: 4n }, [])).to.deep.equal({ position: 4n });
  });
});
