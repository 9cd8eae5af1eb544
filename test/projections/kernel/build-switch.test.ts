/** The projector and build switches: adopting new builds and dropping old ones. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { RETIRE_AFTER_MS } from '../../../projections/kernel/build.js';
import { fakeClock, useFakeTimers } from '../../support/fake-clock.js';
import { eventAt } from '../../support/memory-ports.js';
import { contents } from '../../support/toy-service.js';
import { shelf, useProjecting } from './memory-builds.js';

describe('the projector and builds', () => {
  const world = useProjecting();
  const { serve, project, rows, saved, begun } = world;

  describe('at a switch', () => {
    const next = 'toys_contents_v1_c';
    const switched = (position: bigint, revision: number, collection = next, { name, version } = contents) =>
      eventAt(position, 'ProjectionSwitched', { projection: name, version, collection }, revision);

    it('continues with the new build in log order, once it contains everything before', async () => {
      world.checkpoints.stored.set(next, { position: 20n, lease: 'build:toys', fence: 0n });
      project([contents, shelf]);
      await begun();
      world.log.give([eventAt(10n), switched(20n, 1), eventAt(30n), eventAt(40n)]);
      await eventually(() => rows(next).length === 2);
      expect([rows(), rows(next)]).to.deep.equal([
        [10n, 20n],
        [30n, 40n],
      ]);
      expect(rows('toys_shelf_v1_b')).to.deep.equal([10n, 20n, 30n, 40n]);
      expect(world.served.known(contents.name)).to.deep.include({ collection: next, revision: 1 });
      await eventually(() => saved(next) === 40n);
      expect(saved()).to.equal(undefined);
      expect(world.lines.find(({ message }) => message === 'projection switched')).to.deep.include({
        projection: contents.name,
        collection: next,
        old: 'toys_contents_v1_b',
      });
      // A repeated switch event has no effect.
      world.log.give([switched(50n, 1, 'toys_contents_v1_b'), eventAt(60n)]);
      await eventually(() => rows(next).length === 4);
      expect(world.served.collection(contents.name)).to.equal(next);
    });

    it('adopts a build that is ahead of the switch, and keeps its lease', async () => {
      world.checkpoints.stored.set(next, { position: 40n, lease: 'build:toys', fence: 9n });
      project();
      await begun();
      world.log.give([eventAt(10n), switched(20n, 1), eventAt(30n)]);
      await eventually(() => world.reached.some(([, position]) => position === 40n));
      expect(world.served.collection(contents.name)).to.equal(next);
      world.log.give([eventAt(40n), eventAt(50n)]);
      await eventually(() => saved(next) === 50n);
      expect([rows(), rows(next)]).to.deep.equal([[10n, 20n], [50n]]);
      expect([world.log.calls.length, world.leases.state.released]).to.deep.equal([1, 0]);
    });

    it('finishes the new build if its builder has died', async () => {
      world.checkpoints.stored.set(next, { position: 15n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      world.log.give([switched(20n, 1), eventAt(30n)]);
      await begun(2);
      expect(world.log.calls[1]).to.deep.include({ service: 'toys', from: 15n });
      expect(world.leases.held.has(`build:${contents.name}`)).to.equal(true);
      world.log.give([eventAt(17n)]);
      world.log.give([], { position: 20n, caughtUp: true });
      await eventually(() => rows(next).includes(30n));
      expect(rows(next)).to.deep.equal([17n, 30n]);
      expect(world.leases.held.has(`build:${contents.name}`)).to.equal(false);
    });

    it('ignores switches to another version, of another model, or of an older revision', async () => {
      serve('toys_contents_v1_d', contents, 5);
      project([contents, shelf]);
      await begun();
      const newer = { ...contents, version: 2 };
      world.log.give([
        switched(10n, 6, 'toys_contents_v2_a', newer),
        switched(20n, 6, 'toys_other_v1_a', { ...contents, name: 'toys.other' }),
        switched(30n, 5),
        switched(40n, 4),
        eventAt(50n, 'Unrelated', { projection: contents.name, version: 1, collection: next }, 9),
      ]);
      await eventually(() => rows('toys_contents_v1_d').length === 5);
      expect(world.served.known(contents.name)).to.deep.include({
        collection: 'toys_contents_v1_d',
        revision: 5,
      });
    });
  });

  describe('at its start', () => {
    const present = 'toys_contents_v1_b';
    const exist = (...names: readonly string[]) => {
      for (const name of names) world.builds.collections.set(name, []);
    };

    it('drops earlier builds and builds without a checkpoint, and keeps unfinished ones', async () => {
      exist(present, 'toys_contents_v1_a', 'toys_contents_v1_c', 'toys_contents_v2_d', 'toys_contents_v1_old');
      exist('toys_contentsx_v1_a', 'toys_shelf_v1_a');
      world.checkpoints.stored.set('toys_contents_v1_a', { position: 5n, lease: 'build:toys', fence: 0n });
      world.checkpoints.stored.set('toys_contents_v1_c', { position: 5n, lease: 'build:toys', fence: 0n });
      world.checkpoints.stored.set('toys_contents_v2_d', { position: 5n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      expect(world.builds.state.dropped).to.have.members(['toys_contents_v1_a', 'toys_contents_v1_old']);
      expect(world.builds.state.listed).to.deep.equal(['toys_contents_v']);
      expect(
        world.lines.map(({ message, collection, projection }) => [message, collection, projection]),
      ).to.deep.include(['retired build dropped', 'toys_contents_v1_a', contents.name]);
    });

    it('keeps unfinished builds of a model that is being built, and drops only the earlier one', async () => {
      exist(present, 'toys_contents_v1_a', 'toys_contents_v1_c', 'toys_shelf_v1_a');
      world.leases.taken.add(`build:${contents.name}`);
      project([contents, shelf]);
      await begun();
      expect(world.builds.state.dropped).to.deep.equal(['toys_contents_v1_a', 'toys_shelf_v1_a']);
    });

    it('drops builds later that were in progress at its start, unless it lost the lease', async () => {
      for (const leads of [true, false]) {
        const unfinished = `toys_contents_v1_${leads ? 'c' : 'd'}`;
        const time = fakeClock();
        const realTimers = useFakeTimers(time);
        try {
          exist(present, unfinished);
          world.leases.taken.add(`build:${contents.name}`);
          const before = world.log.calls.length;
          project();
          await eventually(() => world.log.calls.length > before);
          world.leases.taken.delete(`build:${contents.name}`);
          expect(world.builds.state.dropped).not.to.include(unfinished);
          if (!leads) world.stop.abort();
          time.pass(RETIRE_AFTER_MS);
          if (leads) await eventually(() => world.builds.state.dropped.includes(unfinished));
          else await new Promise(setImmediate);
          expect(world.builds.state.dropped.includes(unfinished)).to.equal(leads);
          world.stop.abort();
          time.pass(RETIRE_AFTER_MS);
          await Promise.all(world.running.map(({ stopped }) => stopped));
          world.stop = new AbortController();
        } finally {
          realTimers();
        }
      }
    });
  });
});
