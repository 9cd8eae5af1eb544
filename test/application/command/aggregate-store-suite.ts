/** What is true of remembered streams, on servers and in memory: within their bound, and beyond it found in the log. */
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

  it('stay within their bound, and a command that is remembered no longer is found in the log', async () => {
    const { streams, handle } = fresh();
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
      expect(held(streams)).to.be.at.most(LIMIT);
    }
    expect(held(streams)).to.be.greaterThan(LIMIT / 2);
    for (const { put, first } of commands) {
      const again = await put();
      expect(again).to.include({ repeated: true, position: first.position });
      expect(await again.state()).to.deep.equal(await first.state());
    }
  });

  /** A node that is reading a stream for the first time: what it read is held until it may go on. */
  function reading(toys: number) {
    let goOn = () => {};
    const mayGoOn = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let [begun, done] = [0, 0];
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...asked) {
        begun++;
        const found = await kernel.log.read(...asked);
        done++;
        await mayGoOn;
        return found;
      },
    };
    const { streams } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    return { streams, goOn, full: fullBox(toys), reads: () => ({ begun, done }) };
  }

  it('are read again for what the live feed showed while they were read for the first time', async () => {
    const { streams, goOn, full } = reading(100);
    const stream = await full;
    const first = streams.load(box, stream);
    const erasing = context();
    const erase = { box: stream.slice('toys.box-'.length), toy: '', erase: true } as const;
    // Whether the read has come before it or not: it was held, and must not be taken for the newest.
    streams.onEvent({ ...(await lastOf(stream)), revision: 100 });
    goOn();
    expect((await first).revision).to.equal(99);
    await fresh().handle(box, stream, erase, erasing);
    expect((await streams.load(box, stream)).revision).to.equal(100);
  });

  it('are read on once the live feed shows what another node appended, and not for what is known', async () => {
    const { log, reads } = counting();
    const { streams } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const stream = await fullBox(3);
    const older = await streams.load(box, stream);
    const first = await lastOf(stream);
    streams.onEvent(first);
    expect(streams.cached(box, stream)).to.equal(older);
    await fill(kernel, stream, 2, 2);
    streams.onEvent(await lastOf(stream));
    // Heard of later, as of a slower feed.
    streams.onEvent(first);
    expect(streams.cached(box, stream)).to.equal(undefined);
    const newer = await streams.load(box, stream);
    expect(newer.revision).to.equal(4);
    const before = reads();
    streams.remember(stream, older);
    expect(await streams.load(box, stream)).to.equal(newer);
    expect(reads()).to.equal(before);
  });

  it('are not remembered when they were erased while they were read', async () => {
    const { streams, goOn, full } = reading(100);
    const stream = await full;
    const first = streams.load(box, stream);
    streams.forget(stream);
    goOn();
    expect((await first).revision).to.equal(99);
    expect(held(streams)).to.equal(0);
  });

  it('are read once for many who ask, and no more often than twice for those who come meanwhile', async () => {
    const { streams, goOn, full, reads } = reading(100);
    const stream = await full;
    const first = streams.load(box, stream);
    await eventually(() => reads().done === 1);
    // It came before these asked for the log as it is now, whatever the first read has found.
    const more = { box: stream.slice('toys.box-'.length), toy: '', erase: true } as const;
    await fresh().handle(box, stream, more, context());
    const others = Array.from({ length: 50 }, (_, each) =>
      each % 2 ? streams.reload(box, stream) : streams.load(box, stream),
    );
    goOn();
    expect((await first).revision).to.equal(99);
    for (const other of others) expect((await other).revision).to.equal(100);
    expect(reads().begun).to.equal(2);
    expect((await streams.reload(box, stream)).revision).to.equal(100);
    expect(reads().begun).to.equal(3);
  });

  it('are read again by those who waited for a read in vain', async () => {
    let isAway = true;
    const log: typeof kernel.log = {
      ...kernel.log,
      async read(...asked) {
        if (isAway) {
          isAway = false;
          throw new UnavailableError('the log is away');
        }
        return kernel.log.read(...asked);
      },
    };
    const { streams } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const stream = await fullBox(100);
    const all = await Promise.allSettled([1, 2, 3].map(() => streams.load(box, stream)));
    expect(all.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled']);
  });

  it('that are larger than the bound are remembered all the same, and several of them beside each other', async () => {
    const { log, reads } = counting();
    const { streams } = freshNode({ log, decryptEvent: kernel.decryptEvent });
    const full = await Promise.all([1, 2].map(() => fullBox(600)));
    for (const stream of full) expect((await streams.load(box, stream)).state.toys).to.have.length(600);
    const before = reads();
    for (const stream of full) expect((await streams.load(box, stream)).revision).to.equal(599);
    expect(reads()).to.equal(before);
    // What they take is told as it is.
    expect(streams.caches[1].bytes()).to.be.greaterThan(LIMIT);
    for (const stream of full) streams.forget(stream);
    expect(held(streams)).to.equal(0);
  });

  it('that are large are remembered apart, and push out no small ones', async () => {
    const { log, reads } = counting();
    const streams = createAggregateStore(log, kernel.decryptEvent, { smallBytes: LIMIT, largeBytes: 1_000_000 });
    const small = await fullBox(0);
    await kernel.vault.create(small);
    await commandsOf({ log, streams }).handle(box, small, { box: small.slice(9), toy: 'bear' }, context());
    const large = await fullBox(1000);
    const loaded = await streams.load(box, large);
    const before = reads();
    expect((await streams.load(box, large)).state).to.equal(loaded.state);
    expect(streams.cached(box, small)?.state.toys).to.deep.equal(['bear']);
    expect(reads()).to.equal(before);
    expect(streams.caches.map(({ bytes }) => bytes() > 0)).to.deep.equal([true, true]);
    streams.forget(large);
    expect(streams.caches[1].bytes()).to.equal(0);
  });

  it('are read to their end, and no further than to a revision that is asked for', async () => {
    const { streams } = fresh();
    for (const length of [200, 500]) {
      const stream = await fullBox(length);
      const { state, revision } = await streams.reload(box, stream);
      expect(state.toys).to.deep.equal(Array.from({ length }, (_, index) => `toy-${index}`));
      expect(revision).to.equal(length - 1);
      const then = await streams.asOf(box, stream, 150);
      expect(then.state.toys).to.have.length(151);
      expect(then.revision).to.equal(150);
    }
  });

  it('whose events say all are read from the newest on, now and as they were', async () => {
    const stream = await fullBox(1000);
    for (const [says, first, then] of [
      [(n: number) => n % 50 === 49, 999, 499],
      // Behind others that say little.
      [(n: number) => n === 499, 499, 499],
      // One that earlier releases have written, where only what came first said all.
      [(n: number) => n === 0, 0, 0],
    ] as const) {
      const { log, events } = counting();
      const kind = { ...box, isSnapshotEvent: ({ revision }: { revision: number }) => says(revision) };
      const { streams } = freshNode({ log, decryptEvent: kernel.decryptEvent });
      const { state, revision } = await streams.load(kind, stream);
      expect([revision, state.toys[0], state.toys.at(-1)]).to.deep.equal([999, `toy-${first}`, 'toy-999']);
      const was = await streams.asOf(kind, stream, 500);
      expect([was.revision, was.state.toys[0], was.state.toys.at(-1)]).to.deep.equal([500, `toy-${then}`, 'toy-500']);
      if (first > 500) expect(events()).to.be.at.most(1000);
    }
  });

  it('tell of what was written what the log still keeps of it', async () => {
    const { streams } = fresh();
    const stream = await fullBox(100);
    const written = async (first: number, last: number) =>
      (await streams.eventsOfCommand(box, stream, { first, last })).map(({ revision }) => revision);
    expect(await written(3, 5)).to.deep.equal([3, 4, 5]);
    await kernel.log.retain(stream, { maxCount: 2 });
    expect(await written(3, 5)).to.deep.equal([]);
    expect(await written(96, 98)).to.deep.equal([98]);
    await kernel.log.tombstone(stream);
    expect(await written(98, 99)).to.deep.equal([]);
  });
}
