/** Batching of log events for projections that read much. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import type { Batch, Subscribe } from '../../../application/ports/index.js';
import { type BatchLimits, batchEvents } from '../../../projections/kernel/build.js';
import { eventAt } from '../../support/memory-ports.js';
import { useBuildWorld } from './memory-builds.js';

describe('batched events', () => {
  const world = useBuildWorld();
  beforeEach(() => {
    world.batchSize = 1;
  });

  const LOOSE_LIMITS: BatchLimits = { events: 100, bytes: 1_000_000, ms: 60_000 };
  const gather = (until: bigint, limits: Partial<BatchLimits> = {}, follow: Subscribe = world.ports().follow) =>
    batchEvents(follow, { prefixes: ['toys.'], from: 'start', signal: world.stop.signal }, until, {
      ...LOOSE_LIMITS,
      ...limits,
    });
  const positionsIn = ({ events }: Batch) => events.map(({ position }) => position);

  /** Collects batches up to the head of the log. */
  async function all(batches: AsyncIterable<Batch>) {
    const seen: Batch[] = [];
    for await (const batch of batches) {
      seen.push(batch);
      if (batch.caughtUp) break;
    }
    return seen;
  }

  it('contain up to the given number of events, and the rest at the head', async () => {
    world.put(10n, 20n, 30n, 40n, 50n);
    const seen = await all(gather(1000n, { events: 2 }));
    expect(seen.map(positionsIn)).to.deep.equal([[10n, 20n], [30n, 40n], [50n]]);
    expect(seen.map(({ position, caughtUp }) => [position, caughtUp])).to.deep.equal([
      [20n, false],
      [40n, false],
      [50n, true],
    ]);
  });

  it('contain up to the given number of bytes', async () => {
    for (const position of [10n, 20n, 30n]) world.events.push(eventAt(position, 'ToyPut', { name: 'x'.repeat(1000) }));
    const seen = await all(gather(1000n, { bytes: 2000 }));
    expect(seen.map(positionsIn)).to.deep.equal([[10n, 20n], [30n]]);
  });

  it('are delivered after the given time, to report progress', async () => {
    world.put(10n, 20n);
    const seen = await all(gather(1000n, { ms: 0 }));
    expect(seen.map(positionsIn)).to.deep.equal([[10n], [20n], []]);
    // The position advances even without matching events.
    const idle: Subscribe = async function* () {
      yield { events: [], position: 70n, caughtUp: false };
      yield { events: [], caughtUp: true };
    };
    expect(await all(gather(1000n, {}, idle))).to.deep.equal([{ events: [], position: 70n, caughtUp: true }]);
  });

  it('are delivered individually from the initial head on', async () => {
    world.put(10n, 20n, 30n, 40n);
    const seen = await all(gather(20n));
    expect(seen.map(positionsIn)).to.deep.equal([[10n, 20n], [30n], [40n], []]);
  });

  it('end with their source', async () => {
    const failing: Subscribe = async function* () {
      yield { events: [eventAt(10n)], position: 10n, caughtUp: true };
      throw new Error('broken');
    };
    const batches = gather(5n, {}, failing);
    expect(positionsIn((await batches.next()).value)).to.deep.equal([10n]);
    expect(await rejection(batches.next())).to.have.property('message', 'broken');
    // A stopped batcher delivers nothing more, even if events are available.
    world.put(10n, 20n);
    const stopped = gather(1000n, { events: 1 });
    expect(positionsIn((await stopped.next()).value)).to.deep.equal([10n]);
    world.stop.abort();
    expect(await all(stopped)).to.deep.equal([]);
  });
});
