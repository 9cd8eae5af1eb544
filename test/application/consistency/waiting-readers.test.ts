/** Waiting for projections: no longer than needed, bounded in time, and independent of other read models. */
import { setImmediate } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import {
  createProjectionProgress,
  type ProjectionProgressTracker,
} from '../../../application/consistency/projection-progress.js';
import { type FakeClock, fakeClock, useFakeTimers } from '../../support/fake-clock.js';

describe('a read that waits for projections', () => {
  let time: FakeClock;
  let release: () => void;
  let polled: string[];
  /** The positions of projections that another node runs. */
  let stored: Map<string, bigint>;
  let progress: ProjectionProgressTracker;

  beforeEach(() => {
    time = fakeClock();
    release = useFakeTimers(time);
    [polled, stored] = [[], new Map()];
    progress = createProjectionProgress(async (projection) => {
      polled.push(projection);
      return stored.get(projection);
    });
  });
  afterEach(() => {
    time.pass(60_000);
    release();
  });

  /** The outcome so far, once all pending callbacks have run. */
  async function outcome(wait: Promise<unknown>) {
    let found: unknown = 'waits';
    wait.then((value) => {
      found = value ?? 'done';
    });
    await setImmediate();
    return found;
  }

  it('continues when the local projector reaches its position', async () => {
    const [first, second] = [progress.wait('toys.contents', 5n), progress.wait('toys.contents', 6n)];
    progress.advanced('toys.contents', 4n);
    progress.advanced('games.table', 9n);
    expect([await outcome(first), await outcome(second)]).to.deep.equal(['waits', 'waits']);
    progress.advanced('toys.contents', 5n);
    expect([await outcome(first), await outcome(second)]).to.deep.equal([true, 'waits']);
    progress.advanced('toys.contents', 3n);
    expect([progress.position('toys.contents'), progress.position('dolls.all')]).to.deep.equal([5n, 0n]);
    expect(await outcome(progress.wait('toys.contents', 5n)), 'progress never goes back').to.equal(true);
  });

  it('gives up after 2 s, or after its own timeout, with false', async () => {
    const [usual, short] = [progress.wait('toys.contents', 5n), progress.wait('toys.contents', 5n, 500)];
    time.pass(499);
    expect(await outcome(short)).to.equal('waits');
    time.pass(1);
    expect(await outcome(short)).to.equal(false);
    time.pass(1499);
    expect(await outcome(usual)).to.equal('waits');
    time.pass(1);
    expect(await outcome(usual)).to.equal(false);
  });

  it('waits for its own read model, and not for others of the service', async () => {
    progress.startedAt('toys', 5n);
    const [contents, shelf] = [progress.wait('toys.contents', 5n), progress.wait('toys.shelf', 5n)];
    progress.advanced('toys.contents', 6n);
    expect([await outcome(contents), await outcome(shelf)]).to.deep.equal([true, 'waits']);
    expect([await progress.caughtUp('toys.contents'), await progress.caughtUp('toys.shelf')]).to.deep.equal([
      true,
      false,
    ]);
  });

  it('waits for the head of the log at the start of the node', async () => {
    progress.startedAt('toys', 7n);
    const [atStart, afterStart] = [progress.wait('toys.contents', 0n), progress.wait('toys.contents', 9n)];
    progress.advanced('toys.contents', 7n);
    expect([await outcome(atStart), await outcome(afterStart)]).to.deep.equal([true, 'waits']);
    expect(await outcome(progress.wait('games.table', 0n))).to.equal(true);
  });

  it('continues when the store reports progress of another node, polled only while a read waits', async () => {
    const wait = progress.wait('toys.contents', 5n);
    await eventually(() => polled.length > 1);
    expect(await outcome(wait)).to.equal('waits');
    stored.set('toys.contents', 5n);
    await eventually(async () => (await outcome(wait)) === true);
    expect(progress.position('toys.contents')).to.equal(5n);
    const games = progress.wait('games.table', 1n);
    const before = polled.filter((each) => each === 'toys.contents').length;
    await eventually(() => polled.filter((each) => each === 'games.table').length > 3);
    expect(polled.filter((each) => each === 'toys.contents').length).to.be.at.most(before + 1);
    expect(await outcome(games)).to.equal('waits');
  });

  it('makes the projectors of its service write immediately', async () => {
    const [toys, games] = [
      progress.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100),
      progress.debounceUntilAwaited(['games.table'], 100),
    ];
    void progress.wait('toys.contents', 5n);
    expect([await outcome(toys), await outcome(games)]).to.deep.equal(['done', 'waits']);
    expect(
      await outcome(progress.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100)),
      'still waiting',
    ).to.equal('done');
    time.pass(99);
    expect(await outcome(games)).to.equal('waits');
    time.pass(1);
    expect(await outcome(games)).to.equal('done');
    progress.advanced('toys.contents', 5n);
    await setImmediate();
    const next = progress.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100);
    expect(await outcome(next), 'no read waits').to.equal('waits');
  });

  it('needs no waiting once the node has caught up with the head at its start', async () => {
    expect(await progress.caughtUp('toys.contents'), 'not started yet').to.equal(false);
    expect(polled).to.deep.equal([]);
    progress.startedAt('toys', 7n);
    expect(await progress.caughtUp('toys.contents')).to.equal(false);
    stored.set('toys.contents', 6n);
    expect(await progress.caughtUp('toys.contents')).to.equal(false);
    stored.set('toys.contents', 7n);
    expect(await progress.caughtUp('toys.contents')).to.equal(true);
    const times = polled.length;
    expect(await progress.caughtUp('toys.contents')).to.equal(true);
    expect(polled.length).to.equal(times);
  });

  it('uses the last append of this node to a stream, even if appends are reported out of order', () => {
    progress.appended('toys.box-1', 5n);
    progress.appended('games.box-1', 8n);
    progress.appended('toys.box-1', 3n);
    expect([progress.latest(['toys.box-1']), progress.latest(['games.box-1'])]).to.deep.equal([5n, 8n]);
  });
});
