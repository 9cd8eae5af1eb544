/** A build that is only made to be compared with what is served. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { Position } from '../../../application/ports/index.js';
import type { Builds, Row } from '../../../projections/kernel/projection.js';
import { contents } from '../../support/toy-service.js';
import { useBuildWorld } from './memory-builds.js';

describe('a build that is only to compare', () => {
  const world = useBuildWorld();
  const row = (_id: string, value: number, at = 1n): Row => ({ _id, value, _at: Long.fromBigInt(at) });
  let looks: number;
  /** The live rows, by the time that they are looked at; the rebuilt are all as the last one says. */
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

  it('finds nothing where nothing is served, or nothing differs, and leaves nothing behind', async () => {
    expect(await world.lifecycle().check(contents, { signal: world.stop.signal })).to.deep.equal([]);
    world.serve('toys_contents_v1_a');
    world.builds.collections.set('toys_contents_check_left', []);
    const rows = [row('a', 1), row('b', 2)];
    expect(await compared([rows], rows)).to.deep.equal([]);
    expect(world.asked).to.have.length(1);
    expect([...world.builds.collections.keys()]).to.deep.equal(['toys_contents_v1_a']);
    expect(world.builds.state.dropped).to.deep.equal(['toys_contents_check_left', 'toys_contents_check_run1']);
    expect([...world.checkpoints.kept.keys(), world.leases.held.size]).to.deep.equal([0]);
  });

  it('looks again at what differs, and takes what has caught up by then for no difference', async () => {
    world.serve('toys_contents_v1_a');
    const rebuilt = [row('a', 1, 100n), row('b', 2)];
    for (const live of [[row('a', 0, 100n), row('b', 2)], [row('b', 2)], [...rebuilt, row('c', 1, 100n)]]) {
      const before = world.asked.length;
      expect(await compared([live, rebuilt], rebuilt)).to.deep.equal([]);
      // A build of its own each time, and no further than the head of the log.
      expect(world.asked.length - before).to.equal(1);
      expect(looks).to.equal(2);
    }
    const others = [row('a', 1, 100n), row('b', 0)];
    expect(await compared([[row('b', 2)], others, rebuilt], rebuilt)).to.deep.equal([]);
    expect(looks).to.equal(2);
  });

  it('leaves out what events have touched that came after it looked, in the order of bytes', async () => {
    world.serve('toys_contents_v1_a');
    const live = [row('Z', 1, 101n), row('a', 7, 101n), row('b', 2, 100n), row('ä', 1, 102n)];
    const rebuilt = [row('a', 1), row('b', 2, 100n), row('new', 1, 101n)];
    const grow = () => {
      world.head = 102n;
    };
    expect(await compared([live], rebuilt, grow)).to.deep.equal([]);
    expect(looks).to.equal(1);
  });

  it('takes what is behind the log for no difference: it is compared as far as it has come', async () => {
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

  it('finds what is of events that the log does not have', async () => {
    world.serve('toys_contents_v1_a');
    const live = [row('a', 1, 101n), row('b', 2, 99n), row('c', 3, 102n)];
    const differences = await compared([live], [row('b', 2, 99n)]);
    const problem = 'ahead of the log';
    expect(differences).to.deep.equal([
      { id: 'a', problem },
      { id: 'c', problem },
    ]);
  });

  it('finds them too where how far it is kept is ahead of the log', async () => {
    world.serve('toys_contents_v1_a');
    world.save('toys_contents_v1_a', 150n);
    const differences = await compared([[row('a', 1, 120n), row('b', 2, 99n)]], [row('b', 2, 99n)]);
    expect(differences).to.deep.equal([{ id: 'a', problem: 'ahead of the log' }]);
  });

  it('says how far it is', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    const told: unknown[] = [];
    const onProgress = (...each: unknown[]) => void told.push(each);
    await world.lifecycle().check(contents, { signal: world.stop.signal, onProgress });
    expect(told).to.deep.equal([[{ events: 1, position: 100n }, 100n]]);
  });

  it('leaves nothing behind when it is stopped', async () => {
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
