/** Building a read model up to a position, and waiting for a build of another process. */
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

  describe('up to a position', () => {
    const lease = { name: 'build:toys.shelf', fence: 3n, assertHeld() {} };
    const to = (until: Position, more: Partial<BuildUntilOptions> = {}) =>
      buildUntil(world.ports(), {
        projection: contents,
        collection: 'c',
        until,
        lease: lease,
        signal: world.stop.signal,
        ...more,
      });

    it('projects the events of its service, and saves its checkpoint with the fencing token', async () => {
      world.put(10n, 20n, 30n, 40n);
      world.batchSize = 1;
      const progress: Progress[] = [];
      await to(30n, { onProgress: (each) => progress.push(each) });
      expect(world.calls[0]).to.deep.include({
        service: 'toys',
        types: Object.keys(contents.on),
        from: 'start',
      });
      expect(world.written('c')).to.deep.equal([10n, 20n, 30n]);
      expect(world.checkpoints.stored.get('c')).to.deep.equal({ position: 30n, lease: lease.name, fence: 3n });
      expect(progress).to.deep.equal([{ events: 3, position: 30n }]);
    });

    it('continues at its checkpoint, and does nothing if that suffices', async () => {
      world.put(10n, 20n, 30n);
      world.save('c', 10n);
      await to(20n);
      // Up to the position, although more events exist.
      expect([world.calls[0]?.from, world.saved('c'), world.written('c')]).to.deep.equal([10n, 20n, [20n]]);
      await to(20n);
      await to(15n);
      expect([world.calls.length, world.written('c')]).to.deep.equal([1, [20n]]);
      await to(31n);
      expect([world.calls.length, world.written('c')]).to.deep.equal([2, [20n, 30n]]);
    });

    it('ends at the head of the log if its service has no later events', async () => {
      world.put(10n);
      await to(77n);
      expect([world.saved('c'), world.written('c')]).to.deep.equal([77n, [10n]]);
      await to(90n, { collection: 'empty' });
    });

    it('retries when rows or checkpoint could not be written', async () => {
      world.put(10n, 20n);
      world.batchSize = 1;
      const { builds, checkpoints, ...ports } = world.ports();
      let refused = 0;
      const awayOnce = <Args extends unknown[], Answer>(ask: (...calls: Args) => Promise<Answer>) => {
        let isAway = true;
        return async (...calls: Args): Promise<Answer> => {
          if (!isAway) return ask(...calls);
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
      const options = { projection: contents, collection: 'c', until: 20n, lease: lease };
      await buildUntil(away, { ...options, signal: world.stop.signal });
      expect([refused, world.saved('c'), world.written('c')]).to.deep.equal([2, 20n, [10n, 20n]]);
    });

    describe('with failing writes', () => {
      /** The number of attempts to write rows, and the error that ended the build. */
      async function refusing(refuse: (tried: number) => Error) {
        let tried = 0;
        world.put(10n);
        world.builds.builds.open = async () => async () => {
          throw refuse(++tried);
        };
        const why = await rejection(to(10n));
        return { tried, why };
      }

      it('fails immediately on a permanent error', async () => {
        const wrong = new TypeError('no such field');
        expect(await refusing(() => wrong)).to.deep.equal({ tried: 1, why: wrong });
        expect(world.saved('c')).to.equal(undefined);
      });

      it('fails when it is stopped', async () => {
        const { why, tried } = await refusing(() => {
          world.stop.abort();
          return new UnavailableError('MongoDB did not answer');
        });
        expect(tried).to.equal(1);
        expect(why).to.be.instanceOf(UnavailableError);
      });

      it('fails after the store was unavailable for a minute', async () => {
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

    it('continues when the log returns neither events nor a position', async () => {
      world.put(10n);
      const slow: Subscribe = async function* (options) {
        yield { events: [], caughtUp: false };
        yield* world.ports().follow(options);
      };
      const options = {
        projection: contents,
        collection: 'c',
        until: 10n,
        lease: lease,
        signal: world.stop.signal,
      };
      await buildUntil({ ...world.ports(), follow: slow }, options);
      expect([world.saved('c'), world.checkpoints.state.saves]).to.deep.equal([10n, 1]);
    });

    it('reports that it was stopped', async () => {
      world.put(...MORE_THAN_A_BATCH);
      const stopped = to(99_999n, { onProgress: () => world.stop.abort() });
      const why = await rejection(stopped);
      expect(why).to.be.instanceOf(UnavailableError).with.property('message', 'the build was stopped');
      expect(world.saved('c')).to.equal(8000n);
    });

    it('reads the next batch while one is written', async () => {
      world.put(...Array.from({ length: 30 }, (_, index) => BigInt(index + 1)));
      let read = 0;
      const { follow, ...ports } = world.ports();
      const counted: Subscribe = async function* (options) {
        for await (const batch of follow(options)) {
          read = Math.max(read, Number(batch.position ?? 0n));
          yield batch;
        }
      };
      world.batchSize = 10;
      const readWhenApplied: number[] = [];
      world.builds.builds.open = async () => async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        readWhenApplied.push(read);
      };
      const projection = {
        name: 'toys.large',
        version: 1,
        batchSize: 10,
        open: async () => async () => {},
        async *scan() {},
      };
      const options = { projection, collection: 'c', until: 30n, lease, signal: world.stop.signal };
      await buildUntil({ ...ports, follow: counted }, options);
      expect(readWhenApplied).to.deep.equal([20, 30, 30]);
    });

    it('reads batches of the size its model allows', async () => {
      const large = { name: 'toys.large', version: 1, batchSize: 7, open: async () => async () => {} };
      await to(5n, { projection: { ...large, async *scan() {} } });
      // A projection with `open` reads all event types of its service.
      expect(world.calls[0]).to.deep.include({ batchSize: 7, prefixes: ['toys.'] });
    });
  });

  describe('of another process', () => {
    const made = (until = 20n) =>
      awaitBuilt(world.ports(), { projection: contents, collection: 'c', until, signal: world.stop.signal });

    it('is complete when its checkpoint says so', async () => {
      world.save('c', 20n);
      await made();
      expect([world.leases.state.calls, world.calls.length]).to.deep.equal([0, 0]);
      world.save('c', 19n);
      world.leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => world.leases.state.calls > 1);
      world.save('c', 20n);
      await waiting;
      expect(world.calls).to.deep.equal([]);
    });

    it('is finished by this process if its builder has died', async () => {
      world.put(10n, 20n);
      world.leases.taken.add(LEASE);
      const waiting = made();
      await eventually(() => world.leases.state.calls > 1);
      world.leases.taken.clear();
      await waiting;
      expect([world.written('c'), world.leases.held.size]).to.deep.equal([[10n, 20n], 0]);
    });

    it('is not waited for after a stop or a lost lease', async () => {
      world.leases.taken.add(LEASE);
      const waiting = rejection(made());
      await eventually(() => world.leases.state.calls > 0);
      world.stop.abort();
      expect(await waiting).to.have.property('name', 'AbortError');
      expect(await rejection(made())).to.have.property('name', 'AbortError');
      world.stop = new AbortController();
      world.leases.taken.clear();
      world.builds.builds.open = async () => async () => world.leases.lose(LEASE);
      world.put(...MORE_THAN_A_BATCH);
      const { calls: before } = world.leases.state;
      expect(await rejection(made(99_999n))).to.be.instanceOf(Error);
      expect([world.leases.held.size, world.leases.state.calls]).to.deep.equal([0, before + 1]);
    });
  });
});
