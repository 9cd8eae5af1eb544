/** How a build catches up with the log, and how one that another makes is waited for. */
import { eventually } from '@annals/engines/testing/condition.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { type Position, type Subscribe, UnavailableError } from '../../../application/ports/index.js';
import { awaitBuilt, type BuildUntilOptions, buildUntil, type Progress } from '../../../projections/kernel/build.js';
import { contents } from '../../support/toy-service.js';
import { LEASE, useBuildWorld } from './memory-builds.js';

const MORE_THAN_A_BATCH = Array.from({ length: 9000 }, (_, index) => BigInt(index + 1));

describe('a build', () => {
  const world = useBuildWorld();

  describe('that catches up', () => {
    const held = { name: 'build:toys.shelf', fence: 3n, assertHeld() {} };
    const to = (until: Position, more: Partial<BuildUntilOptions> = {}) =>
      buildUntil(world.ports(), {
        projection: contents,
        collection: 'c',
        until,
        lease: held,
        signal: world.stop.signal,
        ...more,
      });

    it('takes the events of its service up to where it is wanted, and saves how far it is under its fence', async () => {
      world.put(10n, 20n, 30n, 40n);
      world.atOnce = 1;
      const told: Progress[] = [];
      await to(30n, { onProgress: (progress) => told.push(progress) });
      expect(world.asked[0]).to.deep.include({
        service: 'toys',
        types: Object.keys(contents.on),
        from: 'start',
      });
      expect(world.written('c')).to.deep.equal([10n, 20n, 30n]);
      expect(world.checkpoints.kept.get('c')).to.deep.equal({ position: 30n, lease: held.name, fence: 3n });
      expect(told).to.deep.equal([{ events: 3, position: 30n }]);
    });

    it('goes on from its checkpoint, and does nothing when it is there', async () => {
      world.put(10n, 20n, 30n);
      world.save('c', 10n);
      await to(20n);
      // As far as it is wanted, though more was to be had.
      expect([world.asked[0]?.from, world.saved('c'), world.written('c')]).to.deep.equal([10n, 20n, [20n]]);
      await to(20n);
      await to(15n);
      expect([world.asked.length, world.written('c')]).to.deep.equal([1, [20n]]);
      await to(31n);
      expect([world.asked.length, world.written('c')]).to.deep.equal([2, [20n, 30n]]);
    });

    it('is far enough at the head of the log, where nothing of its service is left', async () => {
      world.put(10n);
      await to(77n);
      expect([world.saved('c'), world.written('c')]).to.deep.equal([77n, [10n]]);
      await to(90n, { collection: 'empty' });
    });

    it('goes on where its rows or its checkpoint could not be written for a moment', async () => {
      world.put(10n, 20n);
      world.atOnce = 1;
      const { builds, checkpoints, ...ports } = world.ports();
      let refused = 0;
      const awayOnce = <Asked extends unknown[], Answer>(ask: (...asked: Asked) => Promise<Answer>) => {
        let isAway = true;
        return async (...asked: Asked): Promise<Answer> => {
          if (!isAway) return ask(...asked);
          isAway = false;
          refused++;
          throw new UnavailableError('MongoDB did not answer');
        };
      };
      const open: typeof builds.open = async (...which) => awayOnce(await builds.open(...which));
      const away = {
        ...ports,
        builds: { ...builds, open },
        checkpoints: { ...checkpoints, advance: awayOnce(checkpoints.advance) },
      };
      const options = { projection: contents, collection: 'c', until: 20n, lease: held };
      await buildUntil(away, { ...options, signal: world.stop.signal });
      expect([refused, world.saved('c'), world.written('c')]).to.deep.equal([2, 20n, [10n, 20n]]);
    });

    describe('and whose rows can not be written', () => {
      /** Writes of rows that were tried, and what came of it. */
      async function refusing(refuse: (tried: number) => Error) {
        let tried = 0;
        world.put(10n);
        world.builds.builds.open = async () => async () => {
          throw refuse(++tried);
        };
        const why = await rejection(to(10n));
        return { tried, why };
      }

      it('ends at once where that would be so again', async () => {
        const wrong = new TypeError('no such field');
        expect(await refusing(() => wrong)).to.deep.equal({ tried: 1, why: wrong });
        expect(world.saved('c')).to.equal(undefined);
      });

      it('ends when it is stopped', async () => {
        const { why, tried } = await refusing(() => {
          world.stop.abort();
          return new UnavailableError('MongoDB did not answer');
        });
        expect(tried).to.equal(1);
        expect(why).to.be.instanceOf(UnavailableError);
      });

      it('ends when the store has not answered for a minute, and no sooner', async () => {
        const { now } = performance;
        const begun = now.call(performance);
        const away = new UnavailableError('MongoDB did not answer');
        try {
          performance.now = () => begun;
          const ended = await refusing((tried) => {
            performance.now = () => begun + (tried < 3 ? 60_000 : 60_001);
            return away;
          });
          expect(ended).to.deep.equal({ tried: 3, why: away });
        } finally {
          performance.now = now;
        }
      });
    });

    it('waits on where the log says neither an event nor how far it was looked through', async () => {
      world.put(10n);
      const slow: Subscribe = async function* (options) {
        yield { events: [], caughtUp: false };
        yield* world.ports().follow(options);
      };
      const options = {
        projection: contents,
        collection: 'c',
        until: 10n,
        lease: held,
        signal: world.stop.signal,
      };
      await buildUntil({ ...world.ports(), follow: slow }, options);
      expect([world.saved('c'), world.checkpoints.state.saves]).to.deep.equal([10n, 1]);
    });

    it('says that it was stopped', async () => {
      world.put(...MORE_THAN_A_BATCH);
      const stopped = to(99_999n, { onProgress: () => world.stop.abort() });
      const why = await rejection(stopped);
      expect(why).to.be.instanceOf(UnavailableError).with.property('message', 'the build was stopped');
      expect(world.saved('c')).to.equal(8000n);
    });

    it('asks for as few events at once as its model can take', async () => {
      const large = { name: 'toys.large', version: 1, batchSize: 7, open: async () => async () => {} };
      await to(5n, { projection: { ...large, async *scan() {} } });
      // It says of no event that it is nothing to it.
      expect(world.asked[0]).to.deep.include({ atOnce: 7, prefixes: ['toys.'] });
    });
  });

  describe('that is waited for', () => {
    const made = (until = 20n) =>
      awaitBuilt(world.ports(), { projection: contents, collection: 'c', until, signal: world.stop.signal });

    it('is there once its checkpoint says so, whoever made it', async () => {
      world.save('c', 20n);
      await made();
      expect([world.leases.state.asked, world.asked.length]).to.deep.equal([0, 0]);
      world.save('c', 19n);
      world.leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => world.leases.state.asked > 1);
      world.save('c', 20n);
      await waiting;
      expect(world.asked).to.deep.equal([]);
    });

    it('is finished when its builder has died', async () => {
      world.put(10n, 20n);
      world.leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => world.leases.state.asked > 1);
      world.leases.taken.clear();
      await waiting;
      expect([world.written('c'), world.leases.held.size]).to.deep.equal([[10n, 20n], 0]);
    });

    it('is not waited for by who was stopped, or has lost the lease', async () => {
      world.leases.taken.add(LEASE);
      const waiting = rejection(made());
      await eventually(() => world.leases.state.asked > 0);
      world.stop.abort();
      expect(await waiting).to.have.property('name', 'AbortError');
      expect(await rejection(made())).to.have.property('name', 'AbortError');
      world.stop = new AbortController();
      world.leases.taken.clear();
      world.builds.builds.open = async () => async () => world.leases.lose(LEASE);
      world.put(...MORE_THAN_A_BATCH);
      const { asked: before } = world.leases.state;
      expect(await rejection(made(99_999n))).to.be.instanceOf(Error);
      expect([world.leases.held.size, world.leases.state.asked]).to.deep.equal([0, before + 1]);
    });
  });
});
