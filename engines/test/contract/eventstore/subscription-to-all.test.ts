/** Tests catch-up subscriptions to the whole log: filters, start positions, checkpoints, order. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  END,
  EventStoreDBClient,
  eventTypeFilter,
  type Filter,
  jsonEvent,
  type Position,
  type ResolvedEvent,
  streamNameFilter,
} from '@eventstore/db-client';
import { expect } from 'chai';
import { eventually } from '../../support/condition.js';
import {
  collect,
  freshStream,
  numberedEvent,
  numberedEvents,
  numberOf,
  rejection,
  take,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('a subscription to $all', () => {
  const store = useEventStore();
  const service = () => `s${randomUUID().slice(0, 8)}`;
  /** Events up to an event of type Last in one of the streams. */
  const untilLast = async (filter: Filter, from?: Position) => {
    const seen: ResolvedEvent[] = [];
    const subscription = store.client.subscribeToAll({ filter, ...(from ? { fromPosition: from } : {}) });
    for await (const event of subscription) {
      if (event.event?.type === 'Last') return seen;
      seen.push(event);
    }
    throw new Error('the subscription ended');
  };
  const streamsOf = (events: ResolvedEvent[]) => events.map(({ event }) => event!.streamId);

  it('filters by stream prefix: a whole service, a part of it, several', async () => {
    const [one, other] = [service(), service()];
    const { position } = await store.client.appendToStream(freshStream(), numberedEvent(0));
    const names = [`${one}.room-1`, `${other}.room-1`, `${one}.message-1`, `${one}x.room-1`, `${one}`];
    for (const name of names) await store.client.appendToStream(name, numberedEvent(1));
    for (const prefix of [one, other]) await store.client.appendToStream(`${prefix}.room-9`, numberedEvent(1, 'Last'));

    const seen = async (...prefixes: string[]) => streamsOf(await untilLast(streamNameFilter({ prefixes }), position));
    expect(await seen(`${one}.`)).deep.equal([`${one}.room-1`, `${one}.message-1`]);
    expect(await seen(`${one}.room-`)).deep.equal([`${one}.room-1`]);
    expect(await seen(`${one}.`, `${other}.`)).deep.equal([`${one}.room-1`, `${other}.room-1`, `${one}.message-1`]);
    expect(await seen(one)).deep.equal([`${one}.room-1`, `${one}.message-1`, `${one}x.room-1`, one]);
  });

  it('filters by type prefix', async () => {
    const [name, type] = [service(), service()];
    const { position } = await store.client.appendToStream(freshStream(), numberedEvent(0));
    for (const [n, suffix] of ['A', 'B', 'AB'].entries()) {
      await store.client.appendToStream(`${name}.${suffix}`, numberedEvent(n, `${type}${suffix}`));
    }
    await store.client.appendToStream(`${name}.Last-A`, numberedEvent(9, 'Last'));
    const seen = async (filter: Filter) => (await untilLast(filter, position)).map(numberOf);
    expect(await seen(eventTypeFilter({ prefixes: [`${type}A`, 'Last'] }))).deep.equal([0, 2]);
  });

  it('starts after the given position, even inside an append', async () => {
    const name = service();
    await store.client.appendToStream(`${name}.a-1`, numberedEvents(0, 5));
    await store.client.appendToStream(`${name}.a-2`, numberedEvent(9, 'Last'));
    const filter = streamNameFilter({ prefixes: [`${name}.`] });
    const seen = await untilLast(filter);
    expect(seen.map(numberOf)).deep.equal([0, 1, 2, 3, 4]);
    expect((await untilLast(filter, seen[2]!.event!.position)).map(numberOf)).deep.equal([3, 4]);
  });

  it('from beyond the end misses no new event', async () => {
    const { position } = await store.client.appendToStream(freshStream(), numberedEvent(0));
    const beyond = position!.commit + 1_000_000n;
    const subscription = store.client.subscribeToAll({ fromPosition: { commit: beyond, prepare: beyond } });
    await once(subscription, 'confirmation');
    await once(subscription, 'caughtUp');
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvents(0, 2));
    const seen = [];
    for await (const { event } of subscription) {
      if (event?.streamId === stream) seen.push(event.revision);
      if (seen.length === 2) break;
    }
    expect(seen).deep.equal([0n, 1n]);
  });

  it('refuses a position that is no event’s', async () => {
    const { position } = await store.client.appendToStream(freshStream(), numberedEvents(0, 2));
    const between = { commit: position!.commit - 1n, prepare: position!.commit - 1n };
    expect(await rejection(collect(store.client.subscribeToAll({ fromPosition: between })))).instanceOf(Error);
  });

  it('continues live in the order of the log', async () => {
    const name = service();
    const subscription = store.client.subscribeToAll({
      fromPosition: END,
      filter: streamNameFilter({ prefixes: [`${name}.`] }),
    });
    await once(subscription, 'confirmation');
    const writes = Array.from({ length: 200 }, (_, n) =>
      store.client.appendToStream(`${name}.s-${n % 7}`, numberedEvent(n)),
    );
    const events = await take(subscription, 200);
    await Promise.all(writes);
    const positions = events.map(({ event }) => event!.position!.commit);
    expect(positions).deep.equal([...positions].sort((a, b) => (a < b ? -1 : 1)));
    expect(new Set(events.map(numberOf)).size).equal(200);
  });

  for (const [kind, filterOf] of Object.entries({
    'that scans': (name: string, options: object) => streamNameFilter({ prefixes: [name], ...options }),
    'by category': (name: string, options: object) => streamNameFilter({ prefixes: [`${name}.`], ...options }),
  })) {
    it(`${kind} reports checkpoints for other events, in history and live, from which it can resume`, async () => {
      const [name, noise] = [service(), service()];
      const { position } = await store.client.appendToStream(`${name}.a-1`, numberedEvent(0));
      await store.client.appendToStream(`${noise}.a-1`, numberedEvents(0, 100));
      const checkpoints: Position[] = [];
      const filter = filterOf(name, {
        maxSearchWindow: 16,
        checkpointInterval: 2,
        checkpointReached: async (_: unknown, at: Position) => {
          checkpoints.push(at);
        },
      });
      const subscription = store.client.subscribeToAll({ fromPosition: position!, filter: filter as Filter });
      const caughtUp = once(subscription, 'caughtUp');
      subscription.on('data', () => {});
      await eventually(() => checkpoints.length > 0);
      await caughtUp;
      const inHistory = checkpoints.length;
      await store.client.appendToStream(`${noise}.a-1`, numberedEvents(100, 100));
      await eventually(() => checkpoints.length > inHistory);
      await subscription.unsubscribe();

      await store.client.appendToStream(`${name}.a-1`, numberedEvent(1));
      const resumed = store.client.subscribeToAll({
        fromPosition: checkpoints.at(-1)!,
        filter: filter as Filter,
      });
      expect((await take(resumed, 1)).map(numberOf)).deep.equal([1]);
    });
  }

  if (!process.env.EVENTSTORE_URL) {
    it('by category does not examine the other services’ events', async () => {
      const [name, noise] = [service(), service()];
      const { position } = await store.client.appendToStream(`${name}.a-1`, numberedEvent(0));
      await store.client.appendToStream(`${noise}.a-1`, numberedEvents(0, 2000));
      await store.client.appendToStream(`${name}.a-1`, numberedEvent(1));
      let checkpoints = 0;
      const checkpointReached = async () => {
        checkpoints++;
      };
      const filter = streamNameFilter({ prefixes: [`${name}.`], checkpointReached });
      await take(store.client.subscribeToAll({ fromPosition: position!, filter }), 1);
      // Examining 2,000 events would report 62 checkpoints.
      expect(checkpoints).equal(1);
    });
  }

  it('without a filter reports no checkpoints and returns every event', async () => {
    const { position } = await store.client.appendToStream(freshStream(), numberedEvent(0));
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 5 });
    await store.client.appendToStream(stream, numberedEvent(1));
    const seen = await take(store.client.subscribeToAll({ fromPosition: position! }), 2);
    expect(streamsOf(seen)).deep.equal([`$$${stream}`, stream]);
  });

  it('waits for a slow reader and loses nothing', async () => {
    const stream = freshStream();
    const padded = (first: number) =>
      Array.from({ length: 500 }, (_, i) =>
        jsonEvent({ type: 'Padded', data: { n: first + i, pad: 'y'.repeat(500) } }),
      );
    for (let n = 0; n < 4000; n += 500) await store.client.appendToStream(stream, padded(n));
    let expected = 0;
    const filter = streamNameFilter({ prefixes: [stream] });
    for await (const event of store.client.subscribeToAll({ filter })) {
      expect(numberOf(event)).equal(expected++);
      // Another request in between slows the reader down.
      if (expected % 500 === 0) expect(await collect(store.client.readStream(stream, { maxCount: 500 }))).length(500);
      if (expected === 4000) break;
    }
  });

  it('ends cleanly when the client unsubscribes', async () => {
    const client = EventStoreDBClient.connectionString(store.server.url);
    const subscription = client.subscribeToAll({ fromPosition: END });
    await once(subscription, 'confirmation');
    await subscription.unsubscribe();
    await client.dispose();
  });
});
