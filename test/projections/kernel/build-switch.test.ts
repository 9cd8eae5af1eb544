/** The projector on the way from one build to the next: what it goes over to, and what it drops. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { RETIRE_AFTER_MS } from '../../../projections/kernel/build.js';
import { fakeClock, useFakeTimers } from '../../support/fake-clock.js';
import { eventAt } from '../../support/memory-ports.js';
import { contents } from '../../support/toy-service.js';
import { shelf, useProjecting } from './memory-builds.js';

describe('the projector between builds', () => {
  const world = useProjecting();
  const { serve, project, rows, saved, begun } = world;

  describe('that meets a switch', () => {
    const next = 'toys_contents_v1_c';
    const switched = (position: bigint, revision: number, collection = next, { name, version } = contents) =>
      eventAt(position, 'ProjectionSwitched', { projection: name, version, collection }, revision);

    it('goes over to the new build in the order of the log, once that holds all that was before', async () => {
      world.checkpoints.kept.set(next, { position: 20n, lease: 'build:toys', fence: 0n });
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
      // The same switch again is history.
      world.log.give([switched(50n, 1, 'toys_contents_v1_b'), eventAt(60n)]);
      await eventually(() => rows(next).length === 4);
      expect(world.served.collection(contents.name)).to.equal(next);
    });

    it('takes a build for what it is whose builder has read beyond the switch, and leads on', async () => {
      world.checkpoints.kept.set(next, { position: 40n, lease: 'build:toys', fence: 9n });
      project();
      await begun();
      world.log.give([eventAt(10n), switched(20n, 1), eventAt(30n)]);
      await eventually(() => world.reached.some(([, position]) => position === 40n));
      expect(world.served.collection(contents.name)).to.equal(next);
      world.log.give([eventAt(40n), eventAt(50n)]);
      await eventually(() => saved(next) === 50n);
      expect([rows(), rows(next)]).to.deep.equal([[10n, 20n], [50n]]);
      expect([world.log.asked.length, world.leases.state.released]).to.deep.equal([1, 0]);
    });

    it('finishes the build itself when its builder has died', async () => {
      world.checkpoints.kept.set(next, { position: 15n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      world.log.give([switched(20n, 1), eventAt(30n)]);
      await begun(2);
      expect(world.log.asked[1]).to.deep.include({ service: 'toys', from: 15n });
      expect(world.leases.held.has(`build:${contents.name}`)).to.equal(true);
      world.log.give([eventAt(17n)]);
      world.log.give([], { position: 20n, caughtUp: true });
      await eventually(() => rows(next).includes(30n));
      expect(rows(next)).to.deep.equal([17n, 30n]);
      expect(world.leases.held.has(`build:${contents.name}`)).to.equal(false);
    });

    it('stays where it is when the switch is to another version, of another model, or history', async () => {
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

  describe('that begins', () => {
    const present = 'toys_contents_v1_b';
    const exist = (...names: readonly string[]) => {
      for (const name of names) world.builds.collections.set(name, []);
    };

    it('drops what was served before and what never came to a checkpoint, and keeps what is unfinished', async () => {
      exist(present, 'toys_contents_v1_a', 'toys_contents_v1_c', 'toys_contents_v2_d', 'toys_contents_v1_old');
      exist('toys_contentsx_v1_a', 'toys_shelf_v1_a');
      world.checkpoints.kept.set('toys_contents_v1_a', { position: 5n, lease: 'build:toys', fence: 0n });
      world.checkpoints.kept.set('toys_contents_v1_c', { position: 5n, lease: 'build:toys', fence: 0n });
      world.checkpoints.kept.set('toys_contents_v2_d', { position: 5n, lease: 'build:toys', fence: 0n });
      project();
      await begun();
      expect(world.builds.state.dropped).to.have.members(['toys_contents_v1_a', 'toys_contents_v1_old']);
      expect(world.builds.state.listed).to.deep.equal(['toys_contents_v']);
      expect(
        world.lines.map(({ message, collection, projection }) => [message, collection, projection]),
      ).to.deep.include(['retired build dropped', 'toys_contents_v1_a', contents.name]);
    });

    it('drops of a model that somebody builds what was served before, which the builder waits for, and no more', async () => {
      exist(present, 'toys_contents_v1_a', 'toys_contents_v1_c', 'toys_shelf_v1_a');
      world.leases.taken.add(`build:${contents.name}`);
      project([contents, shelf]);
      await begun();
      expect(world.builds.state.dropped).to.deep.equal(['toys_contents_v1_a', 'toys_shelf_v1_a']);
    });

    it('drops later what seemed to be built when it began, unless another one leads then', async () => {
      for (const leads of [true, false]) {
        const left = `toys_contents_v1_${leads ? 'c' : 'd'}`;
        const time = fakeClock();
        const realTimers = useFakeTimers(time);
        try {
          exist(present, left);
          world.leases.taken.add(`build:${contents.name}`);
          const before = world.log.asked.length;
          project();
          await eventually(() => world.log.asked.length > before);
          world.leases.taken.delete(`build:${contents.name}`);
          expect(world.builds.state.dropped).not.to.include(left);
          if (!leads) world.stop.abort();
          time.pass(RETIRE_AFTER_MS);
          if (leads) await eventually(() => world.builds.state.dropped.includes(left));
          else await new Promise(setImmediate);
          expect(world.builds.state.dropped.includes(left)).to.equal(leads);
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
