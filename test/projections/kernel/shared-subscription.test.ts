/** How several go through the log with one reading of it. */
import { eventually } from '@annals/engines/testing/condition.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import type { Batch, Position, Subscribe } from '../../../application/ports/index.js';
import type { AnyProjection } from '../../../projections/kernel/projection.js';
import { type Share, shareSubscription, sharesOf } from '../../../projections/kernel/shared-subscription.js';
import { useBuildWorld } from '../../support/build-world.js';
import { eventAt } from '../../support/ports.js';
import { contents } from '../../support/toys.js';

describe('a reading of the log that several share', () => {
  const world = useBuildWorld();
  const log = (...types: readonly string[]) =>
    types.forEach((type, index) => void world.events.push(eventAt(BigInt(index + 1) * 10n, type)));

  const shared = (count: number, follow = world.ports().follow) => shareSubscription(follow, count);
  const reading = (
    { follow }: Share,
    types: readonly string[],
    from: Position | 'start' = 'start',
    signal = world.stop.signal,
  ) => follow({ service: 'toys', types, from, signal });

  /** Batches that were read of the log. */
  let read = 0;
  beforeEach(() => {
    read = 0;
  });
  const counted: Subscribe = async function* (options) {
    for await (const batch of world.ports().follow(options)) {
      read++;
      yield batch;
    }
  };

  /** All up to where the head is told of. */
  async function toHead(batches: AsyncGenerator<Batch>) {
    const seen: (readonly [Position, ...Position[]] | Position | 'head')[] = [];
    for await (const { events, position, caughtUp } of batches) {
      seen.push(...events.map((event) => event.position));
      if (events.length === 0 && position) seen.push([position]);
      if (caughtUp) return [...seen, 'head'];
    }
    return seen;
  }

  it('gives to each what it asks for, and asks the log once', async () => {
    log('A', 'B', 'A', 'C');
    world.atOnce = 1;
    const [a, b, late] = shared(3) as [Share, Share, Share];
    const seen = Promise.all([
      toHead(reading(a, ['A'])),
      toHead(reading(b, ['A', 'B'])),
      toHead(reading(late, ['A', 'B', 'C'], 20n)),
    ]);
    expect(await seen).to.deep.equal([
      // Of what is not for it: how far the log was looked through.
      [10n, [20n], 30n, [40n], 'head'],
      [10n, 20n, 30n, [40n], 'head'],
      [30n, 40n, 'head'],
    ]);
    expect(world.asked.map(({ signal: _, ...asked }) => asked)).to.deep.equal([
      { service: 'toys', types: ['A', 'B', 'C'], from: 'start' },
    ]);
    await eventually(() => world.asked[0]?.signal.aborted === true);
  });

  it('begins when all have come or gone, and is for none who left', async () => {
    log('A');
    const [a, gone, failed] = shared(3) as [Share, Share, Share];
    const seen = toHead(reading(a, ['A']));
    gone.leave();
    gone.leave();
    await Promise.resolve();
    expect(world.asked).to.deep.equal([]);
    failed.leave();
    expect(await seen).to.deep.equal([10n, 'head']);
  });

  it('reads no further than the slowest, and goes on without who fails or is stopped', async () => {
    log('A', 'A', 'A');
    world.atOnce = 1;
    const [slow, quick, stopped] = shared(3, counted) as [Share, Share, Share];
    const stop = new AbortController();
    const slowly = reading(slow, ['A']);
    const seen: Position[] = [];
    const quickly = (async () => {
      for await (const { events, caughtUp } of reading(quick, ['A'])) {
        seen.push(...events.map(({ position }) => position));
        if (caughtUp) return;
      }
    })();
    const ended = toHead(reading(stopped, ['A'], 'start', stop.signal));
    await slowly.next();
    stop.abort();
    expect(await ended).to.deep.equal([10n]);
    // All who are there have the first, and nobody was given another.
    await new Promise(setImmediate);
    expect([seen, read]).to.deep.equal([[10n], 1]);
    expect(await rejection(slowly.throw(new Error('full')))).to.have.property('message', 'full');
    await quickly;
    expect(seen).to.deep.equal([10n, 20n, 30n]);
  });

  it('ends when the last is stopped, with whatever each of them is at', async () => {
    log('A', 'A', 'A');
    world.atOnce = 1;
    const stop = new AbortController();
    const all = shared(2, counted).map((share) => reading(share, ['A'], 'start', stop.signal));
    await Promise.all(all.map((each) => each.next()));
    stop.abort();
    await new Promise(setImmediate);
    expect(read).to.equal(1);
    expect(world.asked[0]?.signal.aborted).to.equal(true);
    expect(await Promise.all(all.map(toHead))).to.deep.equal([[], []]);
  });

  it('is there for who comes when all who came before have been stopped', async () => {
    log('A');
    const [stopped, late] = shared(2) as [Share, Share];
    const stop = new AbortController();
    const ended = toHead(reading(stopped, ['A'], 'start', stop.signal));
    stop.abort();
    expect(await ended).to.deep.equal([]);
    expect(await toHead(reading(late, ['A']))).to.deep.equal([10n, 'head']);
  });

  it('gives nothing to who was stopped before it began', async () => {
    log('A');
    const [stopped, other] = shared(2) as [Share, Share];
    const ended = toHead(reading(stopped, ['A'], 'start', AbortSignal.abort()));
    expect(await toHead(reading(other, ['A']))).to.deep.equal([10n, 'head']);
    expect(await ended).to.deep.equal([]);
  });

  it('fails for all with the log', async () => {
    const broken: Subscribe = async function* () {
      yield { events: [eventAt(10n, 'A')], position: 10n, caughtUp: false };
      throw new Error('no log');
    };
    const shares = shared(2, broken);
    const ends = await Promise.all(shares.map((share) => rejection(toHead(reading(share, ['A'])))));
    expect(ends.map((error) => (error as Error).message)).to.deep.equal(['no log', 'no log']);
  });

  it('is that of read models that are built at once: each is served, the log was read once for all of them', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n, 20n);
    const other: AnyProjection = { ...contents, name: 'toys.others', indexes: [] };
    const { shares, rebuild, check } = world.lifecycle({
      streams: { reload: async () => ({ state: world.state, revision: world.revision }) } as never,
      handle: (async () => ({ position: 20n })) as never,
    });
    const models = [contents, other] as const;
    const all = shares(models);
    const built = await Promise.all(
      models.map((model) => rebuild(model, { signal: world.stop.signal, share: all.get(model)! })),
    );
    expect(built.map((name) => world.written(name))).to.deep.equal([
      [10n, 20n],
      [10n, 20n],
    ]);
    const pass = world.asked.filter(({ from }) => from === 'start');
    expect(pass).to.have.length(1);

    const again = shares(models);
    const [first, second] = models.map((model) =>
      check(model, { signal: world.stop.signal, share: again.get(model)!, lookAgainMs: [0] }),
    );
    await Promise.all([first, second]);
    expect(world.asked.filter(({ from }) => from === 'start')).to.have.length(2);
  });

  it('does not wait for who can not build', async () => {
    world.serve('toys_contents_v1_a');
    world.put(10n);
    const other: AnyProjection = { ...contents, name: 'toys.others', indexes: [] };
    world.leases.taken.add('build:toys.others');
    const { shares, rebuild } = world.lifecycle();
    const all = shares([contents, other]);
    const [refused, made] = await Promise.all([
      rejection(rebuild(other, { signal: world.stop.signal, share: all.get(other)! })),
      rebuild(contents, { signal: world.stop.signal, share: all.get(contents)! }),
    ]);
    expect(refused).to.have.property('name', 'BuildInProgress');
    expect(world.written(made)).to.deep.equal([10n, 110n]);
  });

  it('is of one service, and of those that take as many events at once', async () => {
    const own = (name: string, batchSize?: number) =>
      ({
        name,
        version: 1,
        ...(batchSize && { batchSize }),
        open: async () => async () => {},
        scan: async function* () {},
      }) as const;
    const models = [own('toys.a'), own('toys.b'), own('toys.large', 5), own('rooms.a')];
    const shares = sharesOf(world.ports().follow, models);
    const select = { prefixes: ['toys.'], from: 'start', signal: world.stop.signal } as const;
    const begun = models.map((model) =>
      shares.get(model)!.follow({ ...select, ...('batchSize' in model && { atOnce: 5 }) }),
    );
    const firsts = begun.map((each) => each.next());
    await Promise.all(firsts);
    expect(world.asked.map(({ atOnce }) => atOnce)).to.have.members([undefined, 5, undefined]);
  });
});
