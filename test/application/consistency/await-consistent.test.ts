/** What is read shows what its reader was told: this node's own writes, what the caller has seen, and what was there. */
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

describe('a query', () => {
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

  /** Comes to what it reflects once the rows are at `position`, and not at the one before. */
  async function waitsUntil(position: bigint, owed: RequiredWrites) {
    let reflected: Consistency | undefined;
    void awaitConsistent(projectionProgress, 'toys.contents', owed).then((found) => {
      reflected = found;
    });
    projectionProgress.advanced('toys.contents', position - 1n);
    await setImmediate();
    expect(reflected, `before ${position}`).to.equal(undefined);
    projectionProgress.advanced('toys.contents', position);
    await setImmediate();
    expect(reflected, `at ${position}`).to.deep.equal({ position });
  }

  it('waits for what this node has acknowledged of the streams that it shows, and of no others', async () => {
    projectionProgress.appended('toys.box-1', 5n);
    projectionProgress.appended('toys.box-2', 7n);
    projectionProgress.appended('toys.box-3', 9n);
    await waitsUntil(7n, { streams: ['toys.box-1', 'toys.box-2'] });
    await waitsUntil(9n, { streams: ['toys.box-3', 'toys.box-4'], seenByCaller: 8n });
  });

  it('waits for what the caller has seen, and for what is shown of streams too many to name', async () => {
    projectionProgress.appended('toys.box-1', 5n);
    await waitsUntil(6n, { streams: ['toys.box-1'], seenByCaller: 6n });
    await waitsUntil(8n, { lastAppend: 8n, seenByCaller: 7n });
    await waitsUntil(11n, { lastAppend: 10n, seenByCaller: 11n });
  });

  it('waits for where the log was when the node began, whatever is owed', async () => {
    projectionProgress.startedAt('toys', 4n);
    await waitsUntil(4n, {});
  });

  it('says up to where its rows are, and that this is not all when it can wait no longer', async () => {
    projectionProgress.advanced('toys.contents', 3n);
    const late = awaitConsistent(projectionProgress, 'toys.contents', { seenByCaller: 5n });
    projectionProgress.advanced('toys.contents', 4n);
    projectionProgress.advanced('toys.shelf', 5n);
    time.pass(2000);
    expect(await late).to.deep.equal({ position: 4n, consistency: 'pending' });
  });

  it('says no less than what its rows show, and nothing less for old ones', async () => {
    const rows = [7n, 2n].map((at) => ({ _at: { toBigInt: () => at } }));
    expect(withRows({ position: 4n }, rows)).to.deep.equal({ position: 7n });
    expect(withRows({ position: 9n, consistency: 'pending' }, rows)).to.deep.equal({
      position: 9n,
      consistency: 'pending',
    });
    expect(withRows({ position: 4n }, [])).to.deep.equal({ position: 4n });
  });
});
