/** Tests stream metadata: $maxCount, $maxAge and $tb limit the readable events. */
import { BACKWARDS, END, jsonEvent, NO_STREAM, WrongExpectedVersionError } from '@eventstore/db-client';
import { expect } from 'chai';
import { eventually } from '../../support/condition.js';
import {
  collect,
  freshStream,
  numberedEvent,
  numberedEvents,
  numbersOf,
  rejection,
  useEventStore,
} from '../../support/eventstore-client.js';

describe('stream metadata', () => {
  const store = useEventStore();
  const filled = async (count: number): Promise<string> => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvents(0, count));
    return stream;
  };
  const forwards = (stream: string) => numbersOf(store.client.readStream(stream));
  const backwards = (stream: string, fromRevision: bigint | typeof END = END) =>
    numbersOf(store.client.readStream(stream, { direction: BACKWARDS, fromRevision }));
  /** Metadata that the driver would not send. */
  const setRaw = (stream: string, data: object) =>
    store.client.appendToStream(`$$${stream}`, jsonEvent({ type: '$metadata', data: { ...data } }));

  it('is returned as it was set', async () => {
    const stream = await filled(1);
    await store.client.setStreamMetadata(stream, { maxCount: 3, truncateBefore: 1, custom: 'x' });
    const { metadata } = await store.client.getStreamMetadata(stream);
    expect(metadata).deep.equal({ maxCount: 3, truncateBefore: 1, custom: 'x' });
  });

  it('is undefined if none was set', async () => {
    expect((await store.client.getStreamMetadata(freshStream())).metadata).equal(undefined);
  });

  it('has its own expected revision', async () => {
    const stream = await filled(3);
    await store.client.setStreamMetadata(stream, { maxCount: 3 }, { expectedRevision: NO_STREAM });
    const again = store.client.setStreamMetadata(stream, { maxCount: 2 }, { expectedRevision: NO_STREAM });
    expect(await rejection(again)).instanceOf(WrongExpectedVersionError);
  });

  it('keeps only its last event', async () => {
    const stream = await filled(1);
    for (const maxCount of [3, 2, 1]) await store.client.setStreamMetadata(stream, { maxCount });
    expect(await collect(store.client.readStream(`$$${stream}`))).have.length(1);
  });

  it('with $maxCount shows the last events, and nothing backwards from below them', async () => {
    const stream = await filled(10);
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    expect(await forwards(stream)).deep.equal([7, 8, 9]);
    expect(await backwards(stream)).deep.equal([9, 8, 7]);
    expect(await backwards(stream, 6n)).deep.equal([]);
    await store.client.appendToStream(stream, numberedEvent(10));
    expect(await forwards(stream)).deep.equal([8, 9, 10]);
  });

  it('with $tb shows events from that revision on', async () => {
    const stream = await filled(10);
    await store.client.setStreamMetadata(stream, { truncateBefore: 5 });
    expect(await forwards(stream)).deep.equal([5, 6, 7, 8, 9]);
    expect(await backwards(stream)).deep.equal([9, 8, 7, 6, 5]);
  });

  it('lets the stricter of $tb and $maxCount win', async () => {
    const stream = await filled(10);
    await store.client.setStreamMetadata(stream, { truncateBefore: 5, maxCount: 3 });
    expect(await forwards(stream)).deep.equal([7, 8, 9]);
    await store.client.setStreamMetadata(stream, { truncateBefore: 8, maxCount: 3 });
    expect(await forwards(stream)).deep.equal([8, 9]);
  });

  it('with $tb beyond the end shows an empty stream that continues at its real last revision', async () => {
    const stream = await filled(3);
    await store.client.setStreamMetadata(stream, { truncateBefore: 10 });
    expect(await forwards(stream)).deep.equal([]);
    const asNew = store.client.appendToStream(stream, numberedEvent(3), { expectedRevision: NO_STREAM });
    expect(await rejection(asNew)).instanceOf(WrongExpectedVersionError);
    const answer = await store.client.appendToStream(stream, numberedEvent(3), { expectedRevision: 2n });
    expect(answer.nextExpectedRevision).equal(3n);
  });

  it('with $maxAge hides older events; a stream of expired events is empty, not missing', async () => {
    const stream = await filled(2);
    await store.client.setStreamMetadata(stream, { maxAge: 1 });
    await eventually(async () => (await forwards(stream)).length === 0);
    await store.client.appendToStream(stream, numberedEvent(2));
    expect(await forwards(stream)).deep.equal([2]);
  });

  it('is ignored entirely if one known key has a value of a wrong type', async () => {
    const stream = await filled(3);
    for (const wrong of [{ $maxAge: 'long' }, { $tb: null }, { $maxCount: 2.5 }]) {
      await setRaw(stream, { $maxCount: 1, ...wrong });
      expect(await forwards(stream), JSON.stringify(wrong)).deep.equal([0, 1, 2]);
    }
    await setRaw(stream, { $maxCount: 1, custom: 'anything' });
    expect(await forwards(stream)).deep.equal([2]);
  });

  it('counts values of a wrong type, and $maxCount 0, as absent', async () => {
    const stream = await filled(3);
    for (const metadata of [
      { $maxCount: 0 },
      { $maxCount: 'two' },
      { $tb: 'x' },
      { $maxAge: null },
      { $maxCount: 1.5 },
    ]) {
      await setRaw(stream, metadata);
      expect(await forwards(stream), JSON.stringify(metadata)).deep.equal([0, 1, 2]);
    }
  });

  it('replaces what was set before', async () => {
    const stream = await filled(3);
    await store.client.setStreamMetadata(stream, { maxCount: 1 });
    await store.client.setStreamMetadata(stream, {});
    expect(await forwards(stream)).deep.equal([0, 1, 2]);
  });

  it('does not apply to $all', async () => {
    const stream = await filled(5);
    const { position } = (await collect(store.client.readStream(stream)))[0]!.event!;
    await store.client.setStreamMetadata(stream, { maxCount: 2 });
    const everything = await collect(store.client.readAll({ fromPosition: position! }));
    expect(everything.filter(({ event }) => event!.streamId === stream)).have.length(5);
  });
});
