/** Tests catch-up subscriptions to one stream: order, start positions, ends. */
import { once } from 'node:events';
import { END, jsonEvent, type ResolvedEvent, StreamDeletedError } from '@eventstore/db-client';
import { expect } from 'chai';
import { eventually } from '../../support/condition.js';
import {
  collect,
  freshStream,
  numberedEvents,
  numberOf,
  take,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('a subscription to a stream', () => {
  const store = useEventStore();
  const append = (stream: string, first: number, count = 1) =>
    store.client.appendToStream(stream, numberedEvents(first, count));
  const numbers = async (events: AsyncIterable<ResolvedEvent>, count: number) =>
    (await take(events, count)).map(numberOf);

  it('confirms, sends history, reports "caught up" and continues live', async () => {
    const stream = freshStream();
    await append(stream, 0, 3);
    const received: (string | number)[] = [];
    const subscription = store.client.subscribeToStream(stream);
    subscription.on('confirmation', () => received.push('confirmation'));
    subscription.on('caughtUp', () => received.push('caughtUp'));
    subscription.on('data', (event) => received.push(numberOf(event)));
    await once(subscription, 'caughtUp');
    await append(stream, 3);
    await eventually(() => received.length === 6);
    await subscription.unsubscribe();
    expect(received.filter((what) => typeof what === 'number')).deep.equal([0, 1, 2, 3]);
    expect(received[0]).equal('confirmation');
    expect(received.indexOf('caughtUp')).below(received.indexOf(3));
  });

  it('starts after the given revision', async () => {
    const stream = freshStream();
    await append(stream, 0, 5);
    expect(await numbers(store.client.subscribeToStream(stream, { fromRevision: 2n }), 2)).deep.equal([3, 4]);
  });

  it('from END sends only new events', async () => {
    const stream = freshStream();
    await append(stream, 0, 3);
    const subscription = store.client.subscribeToStream(stream, { fromRevision: END });
    await once(subscription, 'confirmation');
    await append(stream, 3);
    expect(await numbers(subscription, 1)).deep.equal([3]);
  });

  it('from a revision beyond the end waits for higher ones', async () => {
    const stream = freshStream();
    await append(stream, 0, 2);
    const subscription = store.client.subscribeToStream(stream, { fromRevision: 3n });
    await once(subscription, 'confirmation');
    await append(stream, 2, 4);
    expect(await numbers(subscription, 2)).deep.equal([4, 5]);
  });

  it('to a missing stream sends new events', async () => {
    const stream = freshStream();
    const subscription = store.client.subscribeToStream(stream);
    await once(subscription, 'confirmation');
    await append(stream, 0, 2);
    expect(await numbers(subscription, 2)).deep.equal([0, 1]);
  });

  it('reports "caught up" for a missing stream only after its creation', async () => {
    const stream = freshStream();
    const subscription = store.client.subscribeToStream(stream);
    const received: string[] = [];
    subscription.on('caughtUp', () => received.push('caughtUp')).on('data', () => received.push('event'));
    await once(subscription, 'confirmation');
    await append(freshStream(), 0);
    expect(received).deep.equal([]);
    await append(stream, 0);
    await eventually(() => received.includes('event') && received.includes('caughtUp'));
  });

  for (const metadata of [{ maxCount: 2 }, { truncateBefore: 150 }]) {
    it(`sends every live event, even if ${Object.keys(metadata)} hides it from reads`, async () => {
      const stream = freshStream();
      await append(stream, 0);
      const subscription = store.client.subscribeToStream(stream, { fromRevision: END });
      await once(subscription, 'caughtUp');
      await store.client.setStreamMetadata(stream, metadata);
      await append(stream, 1, 199);
      expect(await numbers(subscription, 199)).deep.equal(Array.from({ length: 199 }, (_, n) => n + 1));
    });
  }

  it('to a soft-deleted stream sends events after its reopening', async () => {
    const stream = freshStream();
    await append(stream, 0, 3);
    await store.client.deleteStream(stream);
    const subscription = store.client.subscribeToStream(stream);
    await once(subscription, 'confirmation');
    await append(stream, 3);
    expect(await numbers(subscription, 1)).deep.equal([3]);
  });

  it('does not report a soft delete', async () => {
    const stream = freshStream();
    await append(stream, 0);
    const subscription = store.client.subscribeToStream(stream);
    await once(subscription, 'caughtUp');
    await store.client.deleteStream(stream);
    await append(stream, 1);
    expect(await numbers(subscription, 2)).deep.equal([0, 1]);
  });

  it('sees the tombstone, then ends with an error', async () => {
    const stream = freshStream();
    await append(stream, 0);
    const types: string[] = [];
    const subscription = store.client.subscribeToStream(stream);
    subscription.on('data', ({ event }) => types.push(event!.type));
    await once(subscription, 'caughtUp');
    const failed = once(subscription, 'error');
    await store.client.tombstoneStream(stream);
    expect((await failed)[0]).instanceOf(StreamDeletedError);
    expect(types).deep.equal(['Numbered', '$streamDeleted']);
  });

  it('waits for a slow reader and loses nothing', async () => {
    const stream = freshStream();
    const padded = (first: number) =>
      Array.from({ length: 500 }, (_, i) =>
        jsonEvent({ type: 'Padded', data: { n: first + i, pad: 'y'.repeat(500) } }),
      );
    for (let n = 0; n < 4000; n += 500) await store.client.appendToStream(stream, padded(n));
    let expected = 0;
    for await (const event of store.client.subscribeToStream(stream)) {
      expect(numberOf(event)).equal(expected++);
      // Another request in between slows the reader down.
      if (expected % 500 === 0) expect(await collect(store.client.readStream(stream, { maxCount: 500 }))).length(500);
      if (expected === 4000) break;
    }
  });
});
