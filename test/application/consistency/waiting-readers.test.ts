/** Readers wait for what they must be shown: no longer than needed, nor than they can, and for nobody else's. */
import { setImmediate } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import {
  createProjectionProgress,
  type ProjectionProgressTracker,
} from '../../../application/consistency/projection-progress.js';
import { type FakeClock, fakeClock, useFakeTimers } from '../../support/fake-clock.js';

describe('a reader who waits for the projections', () => {
  let time: FakeClock;
  let release: () => void;
  let asked: string[];
  /** How far the projections are that another node keeps up. */
  let stored: Map<string, bigint>;
  let settled: ProjectionProgressTracker;

  beforeEach(() => {
    time = fakeClock();
    release = useFakeTimers(time);
    [asked, stored] = [[], new Map()];
    settled = createProjectionProgress(async (projection) => {
      asked.push(projection);
      return stored.get(projection);
    });
  });
  afterEach(() => {
    time.pass(60_000);
    release();
  });

  /** What has become of it, once all has run that can. */
  async function outcome(wait: Promise<unknown>) {
    let found: unknown = 'waits';
    wait.then((value) => {
      found = value ?? 'done';
    });
    await setImmediate();
    return found;
  }

  it('is let on by the projector of the node when that is there, and not before', async () => {
    const [near, far] = [settled.wait('toys.contents', 5n), settled.wait('toys.contents', 6n)];
    settled.advanced('toys.contents', 4n);
    settled.advanced('games.table', 9n);
    expect([await outcome(near), await outcome(far)]).to.deep.equal(['waits', 'waits']);
    settled.advanced('toys.contents', 5n);
    expect([await outcome(near), await outcome(far)]).to.deep.equal([true, 'waits']);
    settled.advanced('toys.contents', 3n);
    expect([settled.position('toys.contents'), settled.position('dolls.all')]).to.deep.equal([5n, 0n]);
    expect(await outcome(settled.wait('toys.contents', 5n)), 'what is seen stays seen').to.equal(true);
  });

  it('is let on after 2 s all the same, or when it said so, and told that it did not see it', async () => {
    const [usual, short] = [settled.wait('toys.contents', 5n), settled.wait('toys.contents', 5n, 500)];
    time.pass(499);
    expect(await outcome(short)).to.equal('waits');
    time.pass(1);
    expect(await outcome(short)).to.equal(false);
    time.pass(1499);
    expect(await outcome(usual)).to.equal('waits');
    time.pass(1);
    expect(await outcome(usual)).to.equal(false);
  });

  it('waits for what he reads, and not for the service’s others', async () => {
    settled.startedAt('toys', 5n);
    const [contents, shelf] = [settled.wait('toys.contents', 5n), settled.wait('toys.shelf', 5n)];
    settled.advanced('toys.contents', 6n);
    expect([await outcome(contents), await outcome(shelf)]).to.deep.equal([true, 'waits']);
    expect([await settled.caughtUp('toys.contents'), await settled.caughtUp('toys.shelf')]).to.deep.equal([
      true,
      false,
    ]);
  });

  it('waits for where the log was when the node began, too', async () => {
    settled.startedAt('toys', 7n);
    const [early, late] = [settled.wait('toys.contents', 0n), settled.wait('toys.contents', 9n)];
    settled.advanced('toys.contents', 7n);
    expect([await outcome(early), await outcome(late)]).to.deep.equal([true, 'waits']);
    expect(await outcome(settled.wait('games.table', 0n))).to.equal(true);
  });

  it('is let on by what the store says of another node’s projector, which is asked while anybody waits', async () => {
    const wait = settled.wait('toys.contents', 5n);
    await eventually(() => asked.length > 1);
    expect(await outcome(wait)).to.equal('waits');
    stored.set('toys.contents', 5n);
    await eventually(async () => (await outcome(wait)) === true);
    expect(settled.position('toys.contents')).to.equal(5n);
    const games = settled.wait('games.table', 1n);
    const before = asked.filter((each) => each === 'toys.contents').length;
    await eventually(() => asked.filter((each) => each === 'games.table').length > 3);
    expect(asked.filter((each) => each === 'toys.contents').length).to.be.at.most(before + 1);
    expect(await outcome(games)).to.equal('waits');
  });

  it('makes a projector write at once what it gathers, of its own service', async () => {
    const [toys, games] = [
      settled.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100),
      settled.debounceUntilAwaited(['games.table'], 100),
    ];
    void settled.wait('toys.contents', 5n);
    expect([await outcome(toys), await outcome(games)]).to.deep.equal(['done', 'waits']);
    expect(
      await outcome(settled.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100)),
      'it waits still',
    ).to.equal('done');
    time.pass(99);
    expect(await outcome(games)).to.equal('waits');
    time.pass(1);
    expect(await outcome(games)).to.equal('done');
    settled.advanced('toys.contents', 5n);
    await setImmediate();
    const next = settled.debounceUntilAwaited(['toys.contents', 'toys.shelf'], 100);
    expect(await outcome(next), 'nobody waits any more').to.equal('waits');
  });

  it('is served by a node that has caught up with where the log was when it began', async () => {
    expect(await settled.caughtUp('toys.contents'), 'nothing is known yet').to.equal(false);
    expect(asked).to.deep.equal([]);
    settled.startedAt('toys', 7n);
    expect(await settled.caughtUp('toys.contents')).to.equal(false);
    stored.set('toys.contents', 6n);
    expect(await settled.caughtUp('toys.contents')).to.equal(false);
    stored.set('toys.contents', 7n);
    expect(await settled.caughtUp('toys.contents')).to.equal(true);
    const times = asked.length;
    expect(await settled.caughtUp('toys.contents')).to.equal(true);
    expect(asked.length).to.equal(times);
  });

  it('of a stream is told what this node appended last to it, whatever comes late', () => {
    settled.appended('toys.box-1', 5n);
    settled.appended('games.box-1', 8n);
    settled.appended('toys.box-1', 3n);
    expect([settled.latest(['toys.box-1']), settled.latest(['games.box-1'])]).to.deep.equal([5n, 8n]);
  });
});
