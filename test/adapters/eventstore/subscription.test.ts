/** Subscriptions over a driver controlled by hand: delivery, and where they resume after a drop. */
import { EventEmitter } from 'node:events';
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import type { Codec } from '../../../adapters/eventstore/codec.js';
import { createSubscription } from '../../../adapters/eventstore/subscription.js';
import type { Batch, Logger } from '../../../application/ports/index.js';
import { isSettled, Subscription, type SubscriptionOptions, stored } from './fake-driver.js';

/** Anything it cannot decode is of another release. */
const codec = {
  decode: ({ event }: ResolvedEvent) =>
    event?.type === 'toys.ToyPut.v1' ? [{ position: event.position?.commit }] : [],
} as unknown as Codec;

describe('a subscription to the log', () => {
  let opened: Subscription[];
  let news: EventEmitter;
  let warnings: { readonly position: string; readonly retryMs: number; readonly err: Error }[];
  let stop: AbortController;

  beforeEach(() => {
    [opened, news, warnings, stop] = [[], new EventEmitter(), [], new AbortController()];
  });
  afterEach(() => stop.abort());

  const client = {
    subscribeToAll(options: SubscriptionOptions, { highWaterMark }: { highWaterMark: number }) {
      const subscription = new Subscription(options, highWaterMark);
      opened.push(subscription);
      news.emit(`opened ${opened.length}`);
      return subscription;
    },
  } as unknown as EventStoreDBClient;
  const logger = {
    warn(fields: (typeof warnings)[number], message: string) {
      expect(message).to.equal('subscription dropped');
      warnings.push(fields);
    },
  } as unknown as Logger;

  const follow = (options: { from?: bigint | 'start'; batchSize?: number } = {}) =>
    createSubscription(
      client,
      codec.decode,
      logger,
    )({
      prefixes: ['toys.'],
      from: 'start',
      signal: stop.signal,
      ...options,
    })[Symbol.asyncIterator]();
  const summaryOf = ({ value }: IteratorResult<Batch, unknown>) => {
    const { events, position, caughtUp } = value as Batch;
    return [events.map((event) => Number(event.position)), position && Number(position), caughtUp];
  };
  /** Requests the next batch and returns the driver's subscription for it. */
  async function begin(batches: AsyncIterator<Batch>, count = 1) {
    const subscribed = new Promise<void>((resolve) => {
      news.once(`opened ${count}`, resolve);
    });
    const next = batches.next();
    await subscribed;
    return { next, subscription: opened[count - 1]! };
  }

  it('delivers waiting events in batches up to the requested size', async () => {
    const batches = follow({ batchSize: 2 });
    const { next, subscription } = await begin(batches);
    expect(subscription.highWaterMark).to.equal(2);
    subscription.give(1, 2, 3, 4, 5);
    expect(summaryOf(await next)).to.deep.equal([[1, 2], 2, false]);
    expect(summaryOf(await batches.next())).to.deep.equal([[3, 4], 4, false]);
    expect(summaryOf(await batches.next())).to.deep.equal([[5], 5, false]);
  });

  it('delivers events together that arrive together, although the driver emits them one by one', async () => {
    const batches = follow();
    const { next, subscription } = await begin(batches);
    for (const position of [1, 2, 3]) {
      subscription.give(position);
      await new Promise<void>((resolve) => process.nextTick(() => process.nextTick(resolve)));
    }
    expect(summaryOf(await next)).to.deep.equal([[1, 2, 3], 3, false]);
  });

  for (const count of [3, 4]) {
    it(`reports once that it has caught up after all ${count} earlier events are delivered`, async () => {
      const batches = follow({ batchSize: 2 });
      const { next, subscription } = await begin(batches);
      const positions = Array.from({ length: count }, (_, n) => n + 1);
      subscription.give(...positions);
      subscription.emit('caughtUp');
      const all = [summaryOf(await next), summaryOf(await batches.next())];
      if (count === 4) all.push(summaryOf(await batches.next()));
      expect(all.flatMap(([events]) => events)).to.deep.equal(positions);
      expect(all.map(([, , caughtUp]) => caughtUp)).to.deep.equal(all.map((_, n) => n === all.length - 1));
      const after = batches.next();
      expect(await isSettled(after)).to.equal(false);
      subscription.give(9);
      expect(summaryOf(await after)).to.deep.equal([[9], 9, false]);
    });
  }

  it('reports that it has caught up with an empty log', async () => {
    const batches = follow();
    const { next, subscription } = await begin(batches);
    expect(await isSettled(next)).to.equal(false);
    subscription.emit('caughtUp');
    expect(summaryOf(await next)).to.deep.equal([[], undefined, true]);
    const after = batches.next();
    subscription.emit('caughtUp');
    expect(summaryOf(await after)).to.deep.equal([[], undefined, true]);
  });

  it('reports the scanned position only after all found events are delivered', async () => {
    const batches = follow({ batchSize: 2 });
    const { next, subscription } = await begin(batches);
    subscription.give(1, 2, 3);
    await subscription.checkpoint(40);
    expect(summaryOf(await next)).to.deep.equal([[1, 2], 2, false]);
    expect(summaryOf(await batches.next())).to.deep.equal([[3], 40, false]);
    const after = batches.next();
    // A repeated checkpoint is not reported.
    await subscription.checkpoint(40);
    expect(await isSettled(after)).to.equal(false);
    await subscription.checkpoint(50);
    expect(summaryOf(await after)).to.deep.equal([[], 50, false]);
    subscription.give(60);
    expect(summaryOf(await batches.next())).to.deep.equal([[60], 60, false]);
  });

  it('skips what it cannot decode', async () => {
    const batches = follow();
    const { next, subscription } = await begin(batches);
    subscription.write(stored(7, 'toys.ToyPut.v2'));
    expect(summaryOf(await next)).to.deep.equal([[], 7, false]);
    // The target of a link was deleted: there is no event, and no position.
    subscription.write({} as ResolvedEvent);
    expect(summaryOf(await batches.next())).to.deep.equal([[], undefined, false]);
  });

  const CLOSED = 'the event store closed the subscription';
  for (const [what, why, drop] of [
    ['fails', 'dropped', (subscription: Subscription) => void subscription.emit('error', new Error('dropped'))],
    [
      'is refused by the server',
      'the event store is away',
      (subscription: Subscription) =>
        void subscription.emit('error', Object.assign(new Error('14 UNAVAILABLE'), { code: 14 })),
    ],
    ['is ended by the server', CLOSED, (subscription: Subscription) => void subscription.end()],
    ['is closed', CLOSED, (subscription: Subscription) => void subscription.destroy()],
  ] as const) {
    it(`resumes after the last delivered event when its subscription ${what}`, async () => {
      const batches = follow({ from: 5n });
      const { next, subscription } = await begin(batches);
      expect(subscription.options.fromPosition).to.deep.equal({ commit: 5n, prepare: 5n });
      // A server checkpoint older than the last event must not move it back.
      await subscription.checkpoint(6);
      expect(summaryOf(await next)).to.deep.equal([[], 6, false]);
      subscription.give(7);
      expect(summaryOf(await batches.next())).to.deep.equal([[7], 7, false]);
      const second = begin(batches, 2);
      drop(subscription);
      const { next: after, subscription: again } = await second;
      expect(again.options.fromPosition).to.deep.equal({ commit: 7n, prepare: 7n });
      expect(subscription.unsubscribed).to.equal(1);
      expect(warnings.map(({ position, err }) => [position, err.message])).to.deep.equal([['7', why]]);
      again.give(8);
      expect(summaryOf(await after)).to.deep.equal([[8], 8, false]);
    });
  }

  it('delivers received events before it reacts to a failure', async () => {
    const batches = follow({ batchSize: 1 });
    const { next, subscription } = await begin(batches);
    subscription.give(1, 2, 3);
    subscription.emit('error', new Error('the first of two'));
    subscription.emit('close');
    expect([summaryOf(await next), summaryOf(await batches.next()), summaryOf(await batches.next())]).to.deep.equal([
      [[1], 1, false],
      [[2], 2, false],
      [[3], 3, false],
    ]);
    await begin(batches, 2);
    expect(warnings.map(({ err }) => err.message)).to.deep.equal(['the first of two']);
  });

  it('restarts from the beginning while nothing was delivered, with growing delays', async () => {
    const batches = follow();
    let { next, subscription } = await begin(batches);
    expect(subscription.options.fromPosition).to.equal('start');
    for (let count = 2; count <= 4; count++) {
      const reopened = new Promise<void>((resolve) => {
        news.once(`opened ${count}`, resolve);
      });
      subscription.destroy();
      await reopened;
      subscription = opened[count - 1]!;
      expect(subscription.options.fromPosition).to.equal('start');
    }
    subscription.give(1);
    expect(summaryOf(await next)).to.deep.equal([[1], 1, false]);
    const last = begin(batches, 5);
    subscription.destroy();
    ({ next, subscription } = await last);
    expect(warnings.map(({ retryMs }) => retryMs)).to.deep.equal([50, 100, 200, 50]);
    expect(warnings.map(({ position }) => position)).to.deep.equal(['start', 'start', 'start', '1']);
  });

  it('ends when aborted and when the consumer stops', async () => {
    const batches = follow();
    const { next, subscription } = await begin(batches);
    stop.abort();
    expect((await next).done).to.equal(true);
    expect(subscription.unsubscribed).to.equal(1);
    // A late error is ignored.
    subscription.emit('error', new Error('cancelled'));
    expect((await follow().next()).done).to.equal(true);
    expect(opened).to.have.length(1);

    stop = new AbortController();
    const others = follow();
    const { next: first, subscription: other } = await begin(others, 2);
    other.give(1);
    await first;
    await others.return?.(undefined);
    expect(other.unsubscribed).to.equal(1);
    expect([opened.length, warnings.length]).to.deep.equal([2, 0]);
  });

  it('can be aborted while waiting to retry', async () => {
    const batches = follow();
    const { next, subscription } = await begin(batches);
    subscription.destroy();
    while (warnings.length === 0) await new Promise(setImmediate);
    stop.abort();
    expect((await next).done).to.equal(true);
    expect(opened).to.have.length(1);
  });

  it('subscribes to the requested streams or event types', async () => {
    const { subscription: byStream } = await begin(follow());
    expect(byStream.options.filter).to.deep.include({ filterOn: 'streamName', prefixes: ['toys.'] });
    expect(byStream.options.filter.checkpointInterval).to.equal(32);
    const types = createSubscription(
      client,
      codec.decode,
      logger,
    )({
      service: 'toys',
      types: ['ToyPut', 'NotesErased'],
      from: 'start',
      signal: stop.signal,
    })[Symbol.asyncIterator]();
    const { subscription: byType } = await begin(types, 2);
    expect(byType.options.filter).to.deep.include({
      filterOn: 'eventType',
      prefixes: ['toys.ToyPut.v', 'toys.NotesErased.v'],
    });
    expect(byType.highWaterMark).to.equal(1000);
  });
});
