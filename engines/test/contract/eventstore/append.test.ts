/** Tests appends: expected revisions, answers and refusals. */
import { randomUUID } from 'node:crypto';
import {
  ANY,
  type AppendExpectedRevision,
  binaryEvent,
  type EventData,
  EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  NO_STREAM,
  STREAM_EXISTS,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { expect } from 'chai';
import {
  collect,
  freshStream,
  numberedEvent,
  numberedEvents,
  numbersOf,
  rejection,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('appending', () => {
  const store = useEventStore();
  const append = (stream: string, events: EventData | EventData[], expectedRevision: AppendExpectedRevision = ANY) =>
    store.client.appendToStream(stream, events, { expectedRevision });
  const conflict = async (stream: string, expectedRevision: AppendExpectedRevision) => {
    const error = await rejection(append(stream, numberedEvent(99), expectedRevision));
    expect(error).instanceOf(WrongExpectedVersionError);
    return error as WrongExpectedVersionError;
  };

  it('answers the revision and the position of the last event', async () => {
    const stream = freshStream();
    const answer = await append(stream, numberedEvents(0, 3), NO_STREAM);
    const last = (await collect(store.client.readStream(stream))).at(-1)!;
    expect(answer.success).equal(true);
    expect(answer.nextExpectedRevision).equal(2n);
    expect(answer.position).deep.equal(last.event!.position);
    expect(answer.position!.commit).equal(answer.position!.prepare);
  });

  it('assigns increasing positions to the events of an append', async () => {
    const stream = freshStream();
    await append(stream, numberedEvents(0, 3));
    const positions = (await collect(store.client.readStream(stream))).map(({ event }) => event!.position!.commit);
    expect(positions[0]! < positions[1]! && positions[1]! < positions[2]!).equal(true);
  });

  it('accepts the right revision, STREAM_EXISTS and ANY', async () => {
    const stream = freshStream();
    await append(stream, numberedEvent(0), NO_STREAM);
    await append(stream, numberedEvent(1), 0n);
    await append(stream, numberedEvent(2), STREAM_EXISTS);
    await append(stream, numberedEvent(3), ANY);
    expect(await numbersOf(store.client.readStream(stream))).deep.equal([0, 1, 2, 3]);
  });

  it('refuses NO_STREAM for an existing stream and reports its revision', async () => {
    const stream = freshStream();
    await append(stream, numberedEvents(0, 5));
    const error = await conflict(stream, NO_STREAM);
    expect(error.streamName).equal(stream);
    expect(error.expectedVersion).equal(NO_STREAM);
    expect(error.actualVersion).equal(4n);
  });

  it('refuses a revision below and a revision above the last', async () => {
    const stream = freshStream();
    await append(stream, numberedEvents(0, 5));
    for (const revision of [2n, 9n]) {
      const error = await conflict(stream, revision);
      expect(error.expectedVersion).equal(revision);
      expect(error.actualVersion).equal(4n);
    }
  });

  it('refuses a revision and STREAM_EXISTS for a missing stream', async () => {
    for (const expected of [0n, STREAM_EXISTS] as const) {
      const error = await conflict(freshStream(), expected);
      expect(error.expectedVersion).equal(expected);
      expect(error.actualVersion).equal(NO_STREAM);
    }
  });

  it('stores nothing of a refused append', async () => {
    const stream = freshStream();
    await append(stream, numberedEvent(0));
    await conflict(stream, NO_STREAM);
    expect(await numbersOf(store.client.readStream(stream))).deep.equal([0]);
  });

  it('accepts both NO_STREAM and STREAM_EXISTS for a stream that only has metadata', async () => {
    const [first, second] = [freshStream(), freshStream()];
    for (const stream of [first, second]) await store.client.setStreamMetadata(stream, { maxCount: 10 });
    expect((await append(first, numberedEvent(0), NO_STREAM)).nextExpectedRevision).equal(0n);
    expect((await append(second, numberedEvent(0), STREAM_EXISTS)).nextExpectedRevision).equal(0n);
  });

  it('keeps data, metadata, type and id of JSON and of binary events', async () => {
    const stream = freshStream();
    const json = jsonEvent({
      id: randomUUID(),
      type: 'Ünï cödé',
      data: { a: [1, 'ß'] },
      metadata: { by: 'me' },
    });
    const binary = binaryEvent({
      id: randomUUID(),
      type: 'b',
      data: Uint8Array.of(0, 255, 1),
      metadata: Uint8Array.of(7),
    });
    await append(stream, [json, binary]);
    const [first, second] = (await collect(store.client.readStream(stream))).map(({ event }) => event!);
    expect(first).deep.include({
      id: json.id,
      type: json.type,
      data: json.data,
      metadata: json.metadata,
      isJson: true,
    });
    expect(second).include({ id: binary.id, type: 'b', isJson: false });
    expect([...(second!.data as Uint8Array)]).deep.equal([0, 255, 1]);
  });

  it('dates events by the server clock', async () => {
    const stream = freshStream();
    await append(stream, numberedEvent(0));
    const [resolved] = await collect(store.client.readStream(stream));
    expect(Math.abs(resolved!.event!.created.getTime() - Date.now())).below(60_000);
  });

  it('reports missing metadata as undefined', async () => {
    const stream = freshStream();
    await append(stream, numberedEvent(0));
    expect((await collect(store.client.readStream(stream)))[0]!.event!.metadata).equal(undefined);
  });

  it('accepts any name: spaces, slashes, unicode, dollar signs', async () => {
    for (const name of ['a b', 'a/b', 'ü ☃ 𝄞', '$mine', '...']) {
      const stream = `${name} ${randomUUID()}`;
      await append(stream, numberedEvent(0), NO_STREAM);
      const [resolved] = await collect(store.client.readStream(stream));
      expect(resolved!.event!.streamId).equal(stream);
    }
  });

  it('refuses more than 1 MiB in one append and keeps working', async () => {
    const stream = freshStream();
    const big = Array.from({ length: 30 }, () => jsonEvent({ type: 'Big', data: { pad: 'x'.repeat(50_000) } }));
    const error = await rejection(append(stream, big));
    expect(error).instanceOf(MaxAppendSizeExceededError);
    expect((error as MaxAppendSizeExceededError).maxAppendSize).equal(1_048_576);
    expect((await append(stream, numberedEvent(0), NO_STREAM)).nextExpectedRevision).equal(0n);
  });

  it('reports the size before a wrong revision', async () => {
    const big = [jsonEvent({ type: 'Big', data: { pad: 'x'.repeat(1_100_000) } })];
    expect(await rejection(append(freshStream(), big, 5n))).instanceOf(MaxAppendSizeExceededError);
  });

  it('refuses an empty stream name', async () => {
    expect(await rejection(append('', numberedEvent(0)))).instanceOf(Error);
  });

  it('accepts many large concurrent appends', async () => {
    const events = Array.from({ length: 64 }, () => jsonEvent({ type: 'Large', data: { pad: 'x'.repeat(1_000_000) } }));
    const streams = events.map(() => freshStream());
    await Promise.all(events.map((event, n) => store.client.appendToStream(streams[n]!, event, { deadline: 60_000 })));
    for (const stream of streams) expect(await collect(store.client.readStream(stream))).have.length(1);
  });

  it('lets exactly one of many writers with the same expected revision win', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    const attempts = Array.from({ length: 50 }, (_, n) =>
      store.client.appendToStream(stream, numberedEvent(n), { expectedRevision: 0n }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).have.length(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).instanceOf(WrongExpectedVersionError);
    }
  });

  it('returns a conflict as a value to a client that disables errors', async () => {
    const client = EventStoreDBClient.connectionString(`${store.server.url}&throwOnAppendFailure=false`);
    const stream = freshStream();
    await client.appendToStream(stream, numberedEvent(0));
    const answer = await client.appendToStream(stream, numberedEvent(1), { expectedRevision: NO_STREAM });
    await client.dispose();
    expect(answer.success).equal(false);
  });

  it('keeps the order of one client’s unawaited appends', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.client.appendToStream(stream, numberedEvent(n + 1))));
    expect(await numbersOf(store.client.readStream(stream))).deep.equal(Array.from({ length: 101 }, (_, n) => n));
  });
});
