/** The contract of the aggregate store on servers and in memory: bounded caches, with the log behind them. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { AggregateStore } from '../../../application/command/aggregate.js';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { Handled } from '../../../application/command/idempotency.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { box, context } from '../../support/toy-service.js';
import { boxOf, countingReads, fill, freshNode, LIMIT, newestOf } from './boxes.js';
import { type StartRoads, useRoad } from './two-nodes.js';

const held = ({ caches }: Pick<AggregateStore, 'caches'>) => caches.reduce((sum, { bytes }) => sum + bytes(), 0);

export function rememberingStreams(start: StartRoads) {
  const kernel = useRoad(start);

  const fresh = () => freshNode(kernel);
  const fullBox = (toys: number) => boxOf(kernel, toys);
  const counting = () => countingReads(kernel.log);
  const lastOf = (stream: string) => newestOf(kernel.log, stream);

  it('stays within its bound, and finds an evicted command in the log', async () => {
    const { aggregates, handle } = fresh();
    const commands = [];
    for (let index = 0; index < 60; index++) {
      const id = randomUUID();
      await kernel.vault.create(`toys.box-${id}`);
      const put = () =>
        handle(
          box,
          `toys.box-${id}`,
          { box: id, toy: 'bear', note: 'n'.repeat(500) },
          context(`command-${id}`, 'same'),
        ) as Promise<Handled<unknown>>;
      commands.push({ put, first: await put() });
      expect(held(aggregates)).to.be.at.most(LIMIT);
    }
    expect(held(aggregates)).to.be.greaterThan(LIMIT / 2);
    for (const { put, first } of commands) {
      const again = await put();
      expect(again).to.include({ repeated: true, position: first.position });
      expect(await again.state()).to.deep.equal(await first.state());
    }
  });

  /** A node that blocks in its first read of a stream until `release` is called. */
  function blockedNode(toys: number) {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let [begun, done] = [0, 0];
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...args) {
        begun++;
        const found = await kernel.log.read(...args);
        done++;
        await released;
        return found;
      },
    };
    const { aggregates } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    return { aggregates, release, full: fullBox(toys), reads: () => ({ begun, done }) };
  }

  it('reads a stream again after the feed delivered an event during the first read', async () => {
    const { aggregates, release, full } = blockedNode(100);
    const stream = await full;
    const first = aggregates.load(box, stream);
    const erasing = context();
    const erase = { box: stream.slice('toys.box-'.length), toy: '', erase: true } as const;
    // Whether the read includes the event or not, its result must not be taken for the newest.
    aggregates.onEvent({ ...(await lastOf(stream)), revision: 100 });
    release();
    expect((await first).revision).to.equal(99);
    await fresh().handle(box, stream, erase, erasing);
    expect((await aggregates.load(box, stream)).revision).to.equal(100);
  });

  it('reads further after the feed delivered a new event, and not after a known one', async () => {
    const { log, reads } = counting();
    const { aggregates } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const stream = await fullBox(3);
    const older = await aggregates.load(box, stream);
    const first = await lastOf(stream);
    aggregates.onEvent(first);
    expect(aggregates.cached(box, stream)).to.equal(older);
    await fill(kernel, stream, 2, 2);
    aggregates.onEvent(await lastOf(stream));
    // An older event of a slower feed.
    aggregates.onEvent(first);
    expect(aggregates.cached(box, stream)).to.equal(undefined);
    const newer = await aggregates.load(box, stream);
    expect(newer.revision).to.equal(4);
    const before = reads();
    aggregates.remember(stream, older);
    expect(await aggregates.load(box, stream)).to.equal(newer);
    expect(reads()).to.equal(before);
  });

  it('does not cache a stream that was erased while it was read', async () => {
    const { aggregates, release, full } = blockedNode(100);
    const stream = await full;
    const first = aggregates.load(box, stream);
    aggregates.forget(stream);
    release();
    expect((await first).revision).to.equal(99);
    expect(held(aggregates)).to.equal(0);
  });

  it('coalesces concurrent reads into at most two', async () => {
    const { aggregates, release, full, reads } = blockedNode(100);
    const stream = await full;
    const first = aggregates.load(box, stream);
    await eventually(() => reads().done === 1);
    // The append precedes the reads below, even if the first read missed it.
    const more = { box: stream.slice('toys.box-'.length), toy: '', erase: true } as const;
    await fresh().handle(box, stream, more, context());
    const others = Array.from({ length: 50 }, (_, each) =>
      each % 2 ? aggregates.reload(box, stream) : aggregates.load(box, stream),
    );
    release();
    expect((await first).revision).to.equal(99);
    for (const other of others) expect((await other).revision).to.equal(100);
    expect(reads().begun).to.equal(2);
    expect((await aggregates.reload(box, stream)).revision).to.equal(100);
    expect(reads().begun).to.equal(3);
  });

  it('retries for callers that waited for a failed read', async () => {
    let isAway = true;
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...args) {
        if (isAway) {
          isAway = false;
          throw new UnavailableError('the log is away');
        }
        return kernel.log.read(...args);
      },
    };
    const { aggregates } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const stream = await fullBox(100);
    const all = await Promise.allSettled([1, 2, 3].map(() => aggregates.load(box, stream)));
    expect(all.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('caches streams larger than the bound, and several of them', async () => {
    const { log, reads } = counting();
    const { aggregates } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const full = await Promise.all([1, 2].map(() => fullBox(600)));
    for (const stream of full) expect((await aggregates.load(box, stream)).state.toys).to.have.length(600);
    const before = reads();
    for (const stream of full) expect((await aggregates.load(box, stream)).revision).to.equal(599);
    expect(reads()).to.equal(before);
    // The metric reports their true size.
    expect(aggregates.caches[1].bytes()).to.be.greaterThan(LIMIT);
    for (const stream of full) aggregates.forget(stream);
    expect(held(aggregates)).to.equal(0);
  });

  it('caches large streams separately, without evicting small ones', async () => {
    const { log, reads } = counting();
    const aggregates = createAggregateStore(log, kernel.decryptEvent, { smallBytes: LIMIT, largeBytes: 1_000_000 });
    const small = await fullBox(0);
    await kernel.vault.create(small);
    await commandsOf({ log, aggregates }).handle(box, small, { box: small.slice(9), toy: 'bear' }, context());
    const large = await fullBox(1000);
    const loaded = await aggregates.load(box, large);
    const before = reads();
    expect((await aggregates.load(box, large)).state).to.equal(loaded.state);
    expect(aggregates.cached(box, small)?.state.toys).to.deep.equal(['bear']);
    expect(reads()).to.equal(before);
    expect(aggregates.caches.map(({ bytes }) => bytes() > 0)).to.deep.equal([true, true]);
    aggregates.forget(large);
    expect(aggregates.caches[1].bytes()).to.equal(0);
  });

  it('reads a stream to its end, or to a requested revision', async () => {
    const { aggregates } = fresh();
    for (const length of [200, 500]) {
      const stream = await fullBox(length);
      const { state, revision } = await aggregates.reload(box, stream);
      expect(state.toys).to.deep.equal(Array.from({ length }, (_, index) => `toy-${index}`));
      expect(revision).to.equal(length - 1);
      const then = await aggregates.asOf(box, stream, 150);
      expect(then.state.toys).to.have.length(151);
      expect(then.revision).to.equal(150);
    }
  });

  it('reads back to the last snapshot event, for the current and for an earlier revision', async () => {
    const stream = await fullBox(1000);
    for (const [isSnapshot, first, then] of [
      [(n: number) => n % 50 === 49, 999, 499],
      // Behind events that are no snapshots.
      [(n: number) => n === 499, 499, 499],
      // Only the first event is a snapshot.
      [(n: number) => n === 0, 0, 0],
    ] as const) {
      const { log, events } = counting();
      const kind = { ...box, isSnapshotEvent: ({ revision }: { revision: number }) => isSnapshot(revision) };
      const { aggregates } = freshNode({ log, decryptEvent: kernel.decryptEvent });
      const { state, revision } = await aggregates.load(kind, stream);
      expect([revision, state.toys[0], state.toys.at(-1)]).to.deep.equal([999, `toy-${first}`, 'toy-999']);
      const was = await aggregates.asOf(kind, stream, 500);
      expect([was.revision, was.state.toys[0], was.state.toys.at(-1)]).to.deep.equal([500, `toy-${then}`, 'toy-500']);
      if (first > 500) expect(events()).to.be.at.most(1000);
    }
  });

  it('returns the retained events of a command', async () => {
    const { aggregates } = fresh();
    const stream = await fullBox(100);
    const written = async (first: number, last: number) =>
      (await aggregates.eventsOfCommand(box, stream, { first, last })).map(({ revision }) => revision);
    expect(await written(3, 5)).to.deep.equal([3, 4, 5]);
    await kernel.log.retain(stream, { maxCount: 2 });
    expect(await written(3, 5)).to.deep.equal([]);
    expect(await written(96, 98)).to.deep.equal([98]);
    await kernel.log.tombstone(stream);
    expect(await written(98, 99)).to.deep.equal([]);
  });
}
