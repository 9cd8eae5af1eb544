/** Checking a read model: a temporary build is compared with the active one. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Position } from '../../../application/ports/index.js';
import type { Builds, Row } from '../../../projections/kernel/projection.js';
import { contents } from '../../support/toy-service.js';
import { useBuildWorld } from './memory-builds.js';

describe('checking a build', () => {
  const world = useBuildWorld();
  const row = (_id: string, value: number, at = 1n): Row => ({ _id, value, _at: Long.fromBigInt(at) });
  let looks: number;
  /** Compares the live rows, one list per look, with the rebuilt rows. */
  const compared = (live: readonly (readonly Row[])[], rebuilt: readonly Row[], meanwhile = () => {}) => {
    looks = 0;
    async function* scan(_: unknown, name: string) {
      meanwhile();
      yield* name.includes('check') ? rebuilt : (live[looks++] ?? live.at(-1)!);
    }
    const withRows: Builds = { ...world.builds.builds, scan };
    return world
      .lifecycle({ builds: withRows })
      .check(contents, { signal: world.stop.signal, lookAgainMs: [0, 1, 1, 1, 1] });
  };

  it('finds no differences without a build or with equal rows, and leaves nothing behind', async () => {
    expect(await world.lifecycle().check(contents, { signal: world.stop.signal })).to.deep.equal([]);
    world.serve('toys_contents_v1_a');
    world.builds.collections.set('toys_contents_check_left', []);
    const rows = [row('a', 1), row('b', 2)];
    expect(await compared([rows], rows)).to.deep.equal([]);
    expect(world.calls).to.have.length(1);
    expect([...world.builds.collections.keys()]).to.deep.equal(['toys_contents_v1_a']);
    expect(world.builds.state.dropped).to.deep.equal(['toys_contents_check_left', 'toys_contents_check_run1']);
    expect([...world.checkpoints.stored.keys(), world.leases.held.size]).to.deep.equal([0]);
  });

  it('looks again at differing rows, and ignores those that have caught up', async () => {
    world.serve('toys_contents_v1_a');
    const rebuilt = [row('a', 1, 100n), row('b', 2)];
    for (const live of [[row('a', 0, 100n), row('b', 2)], [row('b', 2)], [...rebuilt, row('c', 1, 100n)]]) {
      const before = world.calls.length;
      expect(await compared([live, rebuilt], rebuilt)).to.deep.equal([]);
      // Each check has its own build, up to the head of the log.
      expect(world.calls.length - before).to.equal(1);
      expect(looks).to.equal(2);
    }
    const others = [row('a', 1, 100n), row('b', 0)];
    expect(await compared([[row('b', 2)], others, rebuilt], rebuilt)).to.deep.equal([]);
    expect(looks).to.equal(2);
  });

  it('ignores rows changed by events after its position, in byte order of ids', async () => {
    world.serve('toys_contents_v1_a');
    const live = [row('Z', 1, 101n), row('a', 7, 101n), row('b', 2, 100n), row('ä', 1, 102n)];
    const rebuilt = [row('a', 1), row('b', 2, 100n), row('new', 1, 101n)];
    const grow = () => {
      world.head = 102n;
    };
    expect(await compared([live], rebuilt, grow)).to.deep.equal([]);
    expect(looks).to.equal(1);
  });

  it('compares a lagging build at its own position', async () => {
    world.serve('toys_contents_v1_a');
    world.save('toys_contents_v1_a', 50n);
    world.put(10n, 60n);
    let applied: readonly Position[] = [];
    const { open } = world.builds.builds;
    world.builds.builds.open = async (...build) => {
      const apply = await open(...build);
      return (events) => {
        applied = [...applied, ...events.map(({ position }) => position)];
        return apply(events);
      };
    };
    const ahead = [row('a', 1, 10n), row('b', 2, 60n)];
    expect(await compared([[row('a', 1, 10n)]], ahead)).to.deep.equal([]);
    expect(applied).to.deep.equal([10n]);
    const other = { id: 'a', problem: 'different' };
    expect(await compared([[row('a', 0, 10n)]], ahead)).to.deep.equal([other]);
  });

  it('finds rows of events that the log does not have', async () => {
    world.serve('toys_contents_v1_a');
    const live = [row('a', 1, 101n), row('b', 2, 99n), row('c', 3, 102n)];
    const differences = await compared([live], [row('b', 2, 99n)]);
    const problem = 'ahead of the log';
    expect(differences).to.deep.equal([
      { id: 'a', problem },
      { id: 'c', problem },
    ]);
  });

  it('finds such rows also if the checkpoint is ahead of the log', async () => {
    world.serve('toys_contents_v1_a');
    world.save('toys_contents_v1_a', 150n);
    const differences = await compared([[row('a', 1, 120n), row('b', 2, 99n)]], [row('b', 2, 99n)]);
    expect(differences).to.deep.equal([{ id: 'a', problem: 'ahead of the log' }]);
  });

  it('reports its progress', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    const progress: unknown[] = [];
    const onProgress = (...each: unknown[]) => void progress.push(each);
    await world.lifecycle().check(contents, { signal: world.stop.signal, onProgress });
    expect(progress).to.deep.equal([[{ events: 1, position: 100n }, 100n]]);
  });

  it('leaves nothing behind after a failure', async () => {
    world.serve('toys_contents_v1_a');
    const check = world.lifecycle({ head: async () => Promise.reject(new Error('the log is away')) });
    expect(await rejection(check.check(contents, { signal: world.stop.signal }))).to.have.property(
      'message',
      'the log is away',
    );
    expect(world.builds.state.dropped).to.deep.equal(['toys_contents_check_run1']);
    expect(world.leases.held.size).to.equal(0);
  });
});
