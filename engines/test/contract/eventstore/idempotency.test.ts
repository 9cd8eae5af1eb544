/** Tests that the store recognizes a repeated append by its event ids, as recorded from a real server. */
import {
  ANY,
  type AppendExpectedRevision,
  type EventData,
  NO_STREAM,
  STREAM_EXISTS,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { expect } from 'chai';
import {
  freshStream,
  numberedEvent,
  numberedEvents,
  numbersOf,
  rejection,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('a repeated append', () => {
  const store = useEventStore();
  const append = (stream: string, events: EventData[], expectedRevision: AppendExpectedRevision) =>
    store.client.appendToStream(stream, events, { expectedRevision });
  const stored = (stream: string) => numbersOf(store.client.readStream(stream));

  it('of the same events returns the first answer and stores nothing', async () => {
    for (const retried of [NO_STREAM, ANY, STREAM_EXISTS] as const) {
      const stream = freshStream();
      const events = numberedEvents(0, 3);
      const first = await append(stream, events, NO_STREAM);
      expect(await append(stream, events, retried)).deep.equal(first);
      expect(await stored(stream)).deep.equal([0, 1, 2]);
    }
  });

  it('with an explicit revision is recognized', async () => {
    const stream = freshStream();
    await append(stream, numberedEvents(0, 2), NO_STREAM);
    const events = numberedEvents(2, 2);
    const first = await append(stream, events, 1n);
    expect(await append(stream, events, 1n)).deep.equal(first);
    expect(await stored(stream)).deep.equal([0, 1, 2, 3]);
  });

  it('of the first events returns the revision of the last one repeated', async () => {
    for (const retried of [NO_STREAM, ANY] as const) {
      const stream = freshStream();
      const events = numberedEvents(0, 3);
      await append(stream, events, NO_STREAM);
      expect((await append(stream, events.slice(0, 2), retried)).nextExpectedRevision).equal(1n);
      expect(await stored(stream)).have.length(3);
    }
  });

  it('of the last event with the revision before it, or ANY, is recognized', async () => {
    for (const retried of [1n, ANY] as const) {
      const stream = freshStream();
      const events = numberedEvents(0, 3);
      await append(stream, events, NO_STREAM);
      expect((await append(stream, events.slice(2), retried)).nextExpectedRevision).equal(2n);
      expect(await stored(stream)).have.length(3);
    }
  });

  it('followed by a new event is a wrong version', async () => {
    for (const retried of [NO_STREAM, ANY] as const) {
      const stream = freshStream();
      const events = numberedEvents(0, 2);
      await append(stream, events, NO_STREAM);
      const error = await rejection(append(stream, [...events, numberedEvent(2)], retried));
      expect(error).instanceOf(WrongExpectedVersionError);
      expect(await stored(stream)).have.length(2);
    }
  });

  it('in swapped order with ANY returns the revision of the first event', async () => {
    const stream = freshStream();
    const [a, b] = numberedEvents(0, 2) as [EventData, EventData];
    await append(stream, [a, b], NO_STREAM);
    expect((await append(stream, [b, a], ANY)).nextExpectedRevision).equal(0n);
    expect(await stored(stream)).have.length(2);
  });

  it('of an old event after a new one with ANY stores both', async () => {
    const stream = freshStream();
    const old = numberedEvent(0);
    await append(stream, [old], NO_STREAM);
    await append(stream, [numberedEvent(1), old], ANY);
    expect(await stored(stream)).deep.equal([0, 1, 0]);
  });

  it('of an old first event after more events stores nothing', async () => {
    for (const retried of [ANY, NO_STREAM] as const) {
      const stream = freshStream();
      const old = numberedEvent(0);
      await append(stream, [old], NO_STREAM);
      await append(stream, numberedEvents(1, 3), 0n);
      expect((await append(stream, [old], retried)).nextExpectedRevision).equal(0n);
      expect(await stored(stream)).have.length(4);
    }
  });

  it('of an old event at the current last revision is stored again', async () => {
    const stream = freshStream();
    const old = numberedEvent(0);
    await append(stream, [old], NO_STREAM);
    await append(stream, [old], 0n);
    expect(await stored(stream)).deep.equal([0, 0]);
  });

  it('in another stream is stored', async () => {
    const [one, other] = [freshStream(), freshStream()];
    const event = numberedEvent(0);
    await append(one, [event], ANY);
    await append(other, [event], ANY);
    expect(await stored(other)).deep.equal([0]);
  });

  it('twice in one append is stored twice; retried with ANY it answers the first one’s revision', async () => {
    const stream = freshStream();
    const event = numberedEvent(0);
    expect((await append(stream, [event, event], ANY)).nextExpectedRevision).equal(1n);
    expect((await append(stream, [event, event], ANY)).nextExpectedRevision).equal(0n);
    expect(await stored(stream)).deep.equal([0, 0]);
  });
});
