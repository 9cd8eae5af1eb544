/** The life cycle of builds: creation, activation, leases and cleanup. */
import { eventually } from '@annals/engines/testing/condition.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { type Position, UnavailableError } from '../../../application/ports/index.js';
import { createActiveBuilds } from '../../../projections/kernel/active-builds.js';
import type { Progress } from '../../../projections/kernel/build.js';
import { newRun, runOf } from '../../../projections/kernel/projection.js';
import { BuildInProgress, rebuildsOf } from '../../../projections/kernel/rebuild.js';
import { contents } from '../../support/toy-service.js';
import { LEASE, useBuildWorld } from './memory-builds.js';

describe('the life cycle of a build', () => {
  const world = useBuildWorld();

  const open = (more: object = {}, served = createActiveBuilds()) =>
    world
      .lifecycle()
      .ensureActive([contents], served, { signal: world.stop.signal, ...more })
      .then(() => served.known(contents.name));

  it('starts with an empty active build if there was none, which the projector fills', async () => {
    world.put(10n);
    expect(await open()).to.deep.equal({
      projection: contents.name,
      version: 1,
      collection: 'toys_contents_v1_run1',
      revision: 0,
    });
    expect([world.calls, world.leases.state.calls]).to.deep.equal([[], 0]);
    // Readers find it empty, not missing.
    expect([...world.builds.collections.keys()]).to.deep.equal(['toys_contents_v1_run1']);
  });

  it('keeps an active build of the current version', async () => {
    world.serve('toys_contents_v1_a');
    world.save('toys_contents_v1_a', 100n);
    expect((await open())?.collection).to.equal('toys_contents_v1_a');
    expect([world.calls, world.runs]).to.deep.equal([[], 0]);
  });

  it('builds a new version before it is active', async () => {
    world.serve('toys_contents_v0_a', 0);
    world.put(10n);
    const progress: [Progress, Position][] = [];
    const ahead: unknown[] = [];
    const known = await open({
      onProgress: (...each: [Progress, Position]) => progress.push(each),
      onAhead: (each: unknown) => ahead.push(each),
    });
    expect(known).to.deep.include({ collection: 'toys_contents_v1_run1', version: 1, revision: 1 });
    expect(world.written('toys_contents_v1_run1')).to.deep.equal([10n, 110n]);
    expect(world.saved('toys_contents_v1_run1')).to.equal(110n);
    expect(progress.map(([{ events: count, position }, until]) => [count, position, until])).to.deep.equal([
      [1, 100n, 100n],
      [2, 110n, 110n],
    ]);
    expect([ahead, world.leases.held.size]).to.deep.equal([[], 0]);
  });

  it('rebuilds with a warning if the active build is ahead of the log', async () => {
    world.serve('toys_contents_v1_a');
    world.builds.collections.set('toys_contents_v1_a', [101n]);
    world.save('toys_contents_v1_a', 101n);
    const ahead: unknown[] = [];
    const known = await open({ onAhead: (each: unknown) => ahead.push(each) });
    expect([known?.collection, ahead]).to.deep.equal(['toys_contents_v1_run1', [contents]]);
  });

  it('rebuilds with a warning if the active build has rows and no checkpoint', async () => {
    world.serve('toys_contents_v1_a');
    world.builds.collections.set('toys_contents_v1_a', [50n]);
    const ahead: unknown[] = [];
    const known = await open({ onAhead: (each: unknown) => ahead.push(each) });
    expect([known?.collection, ahead]).to.deep.equal(['toys_contents_v1_run1', [contents]]);

    world.serve('toys_contents_v1_b');
    expect((await open())?.collection).to.equal('toys_contents_v1_b');
  });

  it('deletes all checkpoints ahead of the log', async () => {
    world.serve('toys_contents_v1_a');
    world.save('toys_contents_v1_a', 100n);
    world.save('rooms_state_v1_b', 101n);
    world.save('reaction:rooms.erase', 100n);
    await open();
    expect([...world.checkpoints.stored.keys()]).to.deep.equal(['toys_contents_v1_a', 'reaction:rooms.erase']);
  });

  it('waits for a build of another process, and propagates failures', async () => {
    world.serve('toys_contents_v0_a', 0);
    world.leases.taken.add(LEASE);
    const opening = open();
    await eventually(() => world.leases.state.calls === 1);
    world.serve('toys_contents_v1_b');
    expect((await opening)?.collection).to.equal('toys_contents_v1_b');
    expect(world.leases.state.calls).to.equal(1);

    world.serve('toys_contents_v0_a', 0);
    const stopped = rejection(open());
    await eventually(() => world.leases.state.calls === 2);
    world.stop.abort();
    expect(await stopped).to.have.property('name', 'AbortError');
    world.stop = new AbortController();
    world.leases.taken.clear();
    world.rejected = 'not now';
    expect(await rejection(open())).to.have.property('message', 'not now');
    expect(world.leases.held.size).to.equal(0);
  });

  it('does not build if another node finished before this one got the lease', async () => {
    world.serve('toys_contents_v0_a', 0);
    const { leases } = world.ports();
    const acquire = (name: string) => {
      world.serve('toys_contents_v1_b');
      return leases.acquire(name);
    };
    const served = createActiveBuilds();
    const { ensureActive } = world.lifecycle({ leases: { ...leases, acquire } });
    await ensureActive([contents], served, { signal: world.stop.signal });
    expect(served.collection(contents.name)).to.equal('toys_contents_v1_b');
    expect([world.calls, world.runs, world.leases.held.size]).to.deep.equal([[], 0, 0]);
  });

  const rebuild = (onProgress?: () => void) =>
    world.lifecycle().rebuild(contents, { signal: world.stop.signal, ...(onProgress && { onProgress }) });

  it('allows one builder at a time', async () => {
    world.serve('toys_contents_v1_a');
    world.leases.taken.add(LEASE);
    const refused = await rejection(rebuild());
    expect(refused).to.be.instanceOf(BuildInProgress);
    expect(refused).to.include({
      name: 'BuildInProgress',
      message: 'toys.contents is being built by another process',
    });
  });

  it('resumes an unfinished build, except older ones, other versions and ones ahead of the log', async () => {
    world.serve('toys_contents_v1_k');
    world.save('toys_contents_v1_k', 60n);
    for (const [name, position] of [
      ['toys_contents_v1_j', 50n],
      ['toys_contents_v2_m', 50n],
      ['toys_contents_v1_m', 101n],
      ['toys_contents_v1_n', undefined],
      ['toys_contents_v1_p', 50n],
    ] as const) {
      world.builds.collections.set(name, []);
      if (position) world.save(name, position);
    }
    expect(await rebuild()).to.equal('toys_contents_v1_p');
    expect([world.calls[0]?.from, world.runs]).to.deep.equal([50n, 0]);
  });

  it('names runs in increasing order without reuse, even if clocks are behind', async () => {
    world.put(10n);
    const now = 1_800_000_000_000;
    let random = 9999;
    const fresh = () => String(random--);
    const ahead = newRun('', now + 3_600_000, fresh());
    world.serve(`toys_contents_v1_${ahead}`);
    const behind = world.lifecycle({ newRun: (after) => newRun(after, now, fresh()) });
    const startBuild = async (isStopped: boolean) => {
      const stopping = new AbortController();
      const onProgress = () => isStopped && stopping.abort();
      const before = new Set(world.builds.collections.keys());
      const building = behind.rebuild(contents, { signal: stopping.signal, onProgress });
      await (isStopped ? rejection(building) : building);
      return [...world.builds.collections.keys()].find((name) => !before.has(name)) ?? 'none';
    };
    const dropped = await startBuild(true);
    world.builds.collections.delete(dropped);
    world.checkpoints.stored.delete(dropped);
    const runs = [dropped, await startBuild(false), await startBuild(false)].map(runOf);
    expect(new Set(runs).size).to.equal(3);
    expect(runs[0]! > ahead && runs[1]! > ahead && runs[2]! > runs[1]!, runs.join()).to.equal(true);
    // Run names do not grow with every build.
    expect(runs.map((run) => run.length)).to.deep.equal(Array(3).fill(ahead.length));
  });

  it('ends without a switch when its lease is lost', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    expect(await rejection(rebuild(() => world.leases.lose(LEASE)))).to.be.instanceOf(Error);
    expect([world.state?.collection, world.leases.held.size]).to.deep.equal(['toys_contents_v1_a', 0]);
    expect(world.calls[0]?.signal.aborted).to.equal(true);
  });

  it('ends without a switch when it is stopped', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    expect(await rejection(rebuild(() => world.stop.abort()))).to.have.property('message', 'the build was stopped');
    expect([world.state?.collection, world.leases.held.size]).to.deep.equal(['toys_contents_v1_a', 0]);
  });

  it('is unavailable for callers that wait for a stopped build', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    const served = createActiveBuilds();
    await open({}, served);
    const rebuilds = rebuildsOf(contents, { lifecycle: world.lifecycle(), served }, world.stop.signal);
    const stopped = rebuilds.rebuild(
      () => world.stop.abort(),
      () => {},
    );
    expect(await rejection(stopped)).to.be.instanceOf(UnavailableError);
    expect(await rejection(rebuilds.serving('toys_contents_v1_b'))).to.be.instanceOf(UnavailableError);
  });

  it('reports the progress of a running build', async () => {
    const { underWay } = world.lifecycle();
    world.serve('toys_contents_v1_a');
    expect(await underWay(contents)).to.equal(undefined);
    world.leases.taken.add(LEASE);
    expect(await underWay(contents)).to.deep.equal({ position: 0n, until: 100n });
    world.builds.collections.set('toys_contents_v1_b', []);
    world.save('toys_contents_v1_b', 40n);
    expect(await underWay(contents)).to.deep.equal({ position: 40n, until: 100n });
  });
});
