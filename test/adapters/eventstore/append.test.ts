/** Appends compared with the driver's: stored, answered and refused alike. */
import { once } from 'node:events';
import {
  collect,
  freshStream,
  numberedEvent,
  numbersOf,
  rejection,
  take,
  useOwnEventStore,
} from '@annals/engines/testing/eventstore-client.js';
import {
  ANY,
  type AppendToStreamOptions,
  binaryEvent,
  type EventData,
  type EventStoreDBClient,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
  streamNameFilter,
} from '@eventstore/db-client';
import { expect } from 'chai';
import { FastClient, readAll } from '../../../adapters/eventstore/client.js';

describe('an append of our own', () => {
  const store = useOwnEventStore();
  let own: FastClient;
  before(() => {
    own = FastClient.open(store.server.url);
  });
  after(() => own?.dispose());

  /** Runs the same steps with both clients, each on a stream of its own. */
  async function both<T>(steps: (client: EventStoreDBClient, stream: string) => Promise<T>) {
    const outcome = async (client: EventStoreDBClient) => {
      const stream = freshStream();
      const json = JSON.stringify(await steps(client, stream), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      );
      return json.replaceAll(stream, 'the stream');
    };
    return { ours: await outcome(own), theirs: await outcome(store.client) };
  }

  const wordsOf = (error: unknown) => ({ kind: error?.constructor.name, ...(error as object) });

  const stored = async (client: EventStoreDBClient, stream: string) =>
    (await collect(client.readStream(stream))).map(({ event }) => {
      const { type, isJson, data, metadata, revision } = event!;
      return { id: event?.id, type, isJson, data, metadata, revision };
    });

  it('stores what the driver stores: JSON in any script, bytes, both kinds of metadata or none', async () => {
    const ids = Array.from({ length: 5 }, (_, n) => `0b0e2a9c-6d0b-4c57-9a55-7f0f6f6a3b0${n}`);
    const events: EventData[] = [
      jsonEvent({
        id: ids[0]!,
        type: 'A',
        data: { text: 'naïve 日本 \ud83d\ude80 \u0000', n: 1.5 },
        metadata: { by: 'ö' },
      }),
      jsonEvent({ id: ids[1]!, type: 'B', data: {} }),
      jsonEvent({ id: ids[2]!, type: 'C', data: { lone: '\ud800' }, metadata: Buffer.from([0, 255, 128]) }),
      binaryEvent({ id: ids[3]!, type: 'D', data: Buffer.from([0, 1, 254, 255]), metadata: { n: 1 } }),
      binaryEvent({ id: ids[4]!, type: 'E', data: Buffer.alloc(0) }),
    ];
    const { ours, theirs } = await both(async (client, stream) => {
      const { success, nextExpectedRevision } = await client.appendToStream(stream, events);
      return { success, nextExpectedRevision, found: await stored(client, stream) };
    });
    expect(ours).to.equal(theirs).and.to.include('naïve 日本');
  });

  it('survives any number of reads of missing streams: a server ends connections on aborted reads', async () => {
    const stream = freshStream();
    await own.appendToStream(stream, numberedEvent(1));
    const subscription = own.subscribeToAll({ filter: streamNameFilter({ prefixes: [stream] }) });
    let failed: unknown;
    subscription.on('error', (error) => {
      failed = error;
    });
    await once(subscription, 'data');
    const kinds = new Set<string | undefined>();
    for (let round = 0; round < 30; round++) {
      const look = async (_: unknown, n: number) =>
        rejection(readAll(() => own.readStream(`${stream}-${n}`))).then((error) => error?.constructor.name);
      for (const kind of await Promise.all(Array.from({ length: 100 }, look))) kinds.add(kind);
    }
    expect([...kinds]).to.deep.equal(['StreamNotFoundError']);
    expect(failed).to.equal(undefined);
    await subscription.unsubscribe();
  });

  it('is delivered to subscriptions as the driver delivers it', async () => {
    const events = [jsonEvent({ type: 'A', data: { text: '日本' }, metadata: { by: 'ö' } }), numberedEvent(3)];
    const stream = freshStream();
    await own.appendToStream(stream, events);
    const filter = streamNameFilter({ prefixes: [stream] });
    const [ours, theirs] = await Promise.all(
      [own, store.client].map((client) => take(client.subscribeToAll({ filter }), events.length)),
    );
    expect(ours).to.deep.equal(theirs);
  });

  it('allows disposing when nothing was called, and when no server was found', async () => {
    await FastClient.open(store.server.url).dispose();
    const nowhere = FastClient.open('esdb://127.0.0.1:1?tls=false&maxDiscoverAttempts=1');
    expect(await rejection(nowhere.appendToStream(freshStream(), numberedEvent(1)))).to.be.instanceOf(Error);
    await nowhere.dispose();
  });

  it('returns the position of its last event', async () => {
    const stream = freshStream();
    const { position } = await own.appendToStream(stream, [numberedEvent(1), numberedEvent(2)]);
    expect((await collect(own.readStream(stream))).at(-1)?.event?.position).to.deep.equal(position);
  });

  it('accepts and refuses by expected revision as the driver does', async () => {
    const expectations: AppendToStreamOptions['expectedRevision'][] = [ANY, NO_STREAM, STREAM_EXISTS, 0n, 5n];
    for (const before of [0, 1, 2])
      for (const expectedRevision of expectations) {
        const { ours, theirs } = await both(async (client, stream) => {
          if (before > 0)
            await client.appendToStream(
              stream,
              Array.from({ length: before }, (_, n) => numberedEvent(n)),
            );
          const done = client.appendToStream(stream, numberedEvent(9), { expectedRevision: expectedRevision! });
          return done.then(
            ({ success, nextExpectedRevision }) => ({ success, nextExpectedRevision }),
            (error) => ({ ...error, message: error.message }),
          );
        });
        expect(ours, `${before} before, ${expectedRevision} expected`).to.equal(theirs);
      }
  });

  it('is not executed after its deadline, and is executed at any time without one', async () => {
    const late = await both(async (client, stream) =>
      wordsOf(await rejection(client.appendToStream(stream, numberedEvent(1), { deadline: -60_000 }))),
    );
    expect(late.ours).to.equal(late.theirs).and.to.include('DeadlineExceededError');
    const stream = freshStream();
    await own.appendToStream(stream, numberedEvent(2), { deadline: Number.POSITIVE_INFINITY });
    expect(await numbersOf(own.readStream(stream))).to.deep.equal([2]);
  });

  it("is refused for deleted streams and oversized events with the driver's errors", async () => {
    const deleted = await both(async (client, stream) => {
      await client.appendToStream(stream, numberedEvent(1));
      await client.tombstoneStream(stream);
      const error = await rejection(client.appendToStream(stream, numberedEvent(2)));
      return wordsOf(error);
    });
    expect(deleted.ours).to.equal(deleted.theirs).and.to.include('StreamDeletedError');
    const large = jsonEvent({ type: 'Large', data: { text: 'x'.repeat(1_100_000) } });
    const tooLarge = await both(async (client, stream) =>
      wordsOf(await rejection(client.appendToStream(stream, large))),
    );
    expect(tooLarge.ours).to.equal(tooLarge.theirs).and.to.include('MaxAppendSizeExceededError');
  });

  it('is answered separately from concurrent appends', async () => {
    const streams = Array.from({ length: 50 }, () => freshStream());
    const done = await Promise.all(
      streams.flatMap((stream, n) => [
        own.appendToStream(
          stream,
          Array.from({ length: n + 1 }, (_, each) => numberedEvent(each)),
        ),
        own.setStreamMetadata(stream, { maxCount: 3 }),
      ]),
    );
    expect(
      done.filter((_, n) => n % 2 === 0).map(({ nextExpectedRevision }) => Number(nextExpectedRevision)),
    ).to.deep.equal(streams.map((_, n) => n));
    expect(await numbersOf(own.readStream(streams[9]!))).to.deep.equal([7, 8, 9]);
  });

  it('is rejected when the store dies, and works over a new call once it is back', async function () {
    const { embedded } = store.server;
    if (!embedded) return this.skip();
    await own.appendToStream(freshStream(), numberedEvent(1));
    process.kill(embedded.pid, 'SIGSTOP');
    const waiting = Array.from({ length: 3 }, () => rejection(own.appendToStream(freshStream(), numberedEvent(1))));
    await embedded.restart('SIGKILL');
    for (const error of await Promise.all(waiting)) expect(error).to.be.instanceOf(Error);
    const stream = freshStream();
    for (let done = false; !done; )
      done = await own.appendToStream(stream, numberedEvent(1)).then(
        () => true,
        () => false,
      );
    expect(await numbersOf(own.readStream(stream))).to.include(1);
  });
});
