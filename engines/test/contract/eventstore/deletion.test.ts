/** Tests soft delete, reopening and tombstones. */
import {
  ANY,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
  StreamDeletedError,
  StreamNotFoundError,
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

describe('a soft-deleted stream', () => {
  const store = useEventStore();
  const deleted = async (): Promise<string> => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvents(0, 2));
    await store.client.deleteStream(stream);
    return stream;
  };
  const read = (stream: string) => numbersOf(store.client.readStream(stream));

  it('is not found', async () => {
    expect(await rejection(read(await deleted()))).instanceOf(StreamNotFoundError);
  });

  it('answers the position of its deletion, guarded by a revision', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvents(0, 2));
    const wrong = await rejection(store.client.deleteStream(stream, { expectedRevision: 7n }));
    expect(wrong).instanceOf(WrongExpectedVersionError);
    expect((wrong as WrongExpectedVersionError).actualVersion).equal(1n);
    expect((await store.client.deleteStream(stream, { expectedRevision: 1n })).position!.commit > 0n).equal(true);
  });

  it('has only the metadata $tb 2^63 - 1', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    await store.client.setStreamMetadata(stream, { maxCount: 5, custom: 1 });
    await store.client.deleteStream(stream);
    const [last] = await collect(store.client.readStream(`$$${stream}`));
    expect(last!.event!.type).equal('$metadata');
    expect(last!.event!.data).deep.equal({ $tb: 2 ** 63 });
  });

  it('may be deleted again', async () => {
    await store.client.deleteStream(await deleted());
  });

  for (const expectedRevision of [ANY, NO_STREAM, 1n] as const) {
    it(`is reopened at the next revision by an append with ${expectedRevision}`, async () => {
      const stream = await deleted();
      const answer = await store.client.appendToStream(stream, numberedEvent(2), { expectedRevision });
      expect(answer.nextExpectedRevision).equal(2n);
      expect(await read(stream)).deep.equal([2]);
      expect((await store.client.getStreamMetadata(stream)).metadata).deep.equal({ truncateBefore: 2 });
    });
  }

  it('refuses STREAM_EXISTS as deleted and reports the actual revision for a wrong one', async () => {
    const stream = await deleted();
    const exists = store.client.appendToStream(stream, numberedEvent(2), { expectedRevision: STREAM_EXISTS });
    expect(await rejection(exists)).instanceOf(StreamDeletedError);
    const wrong = await rejection(store.client.appendToStream(stream, numberedEvent(2), { expectedRevision: 0n }));
    expect(wrong).instanceOf(WrongExpectedVersionError);
    expect((wrong as WrongExpectedVersionError).actualVersion).equal(1n);
  });

  it('is reopened when its metadata is set, which is kept', async () => {
    const stream = await deleted();
    await store.client.setStreamMetadata(stream, { maxCount: 7 });
    expect(await read(stream)).deep.equal([]);
    expect((await store.client.getStreamMetadata(stream)).metadata).deep.equal({
      maxCount: 7,
      truncateBefore: 2,
    });
  });

  it('may have had metadata only', async () => {
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 3 });
    await store.client.deleteStream(stream);
    expect(await rejection(read(stream))).instanceOf(StreamNotFoundError);
  });

  it('cannot have been missing before', async () => {
    const error = await rejection(store.client.deleteStream(freshStream()));
    expect(error).instanceOf(WrongExpectedVersionError);
    expect((error as WrongExpectedVersionError).actualVersion).equal(-1n);
    expect((error as Error).message).contain('Delete failed due to WrongExpectedVersion');
  });
});

describe('a tombstoned stream', () => {
  const store = useEventStore();
  const expectDeleted = async (attempt: Promise<unknown>, stream: string) => {
    const error = await rejection(attempt);
    expect(error).instanceOf(StreamDeletedError);
    expect((error as StreamDeletedError).streamName).equal(stream);
  };

  it('is deleted permanently, with its metadata', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    await store.client.tombstoneStream(stream);
    await expectDeleted(collect(store.client.readStream(stream)), stream);
    for (const expectedRevision of [ANY, NO_STREAM, STREAM_EXISTS, 0n] as const) {
      await expectDeleted(store.client.appendToStream(stream, numberedEvent(1), { expectedRevision }), stream);
    }
    await expectDeleted(store.client.deleteStream(stream), stream);
    await expectDeleted(store.client.tombstoneStream(stream), stream);
    await expectDeleted(collect(store.client.subscribeToStream(stream)), stream);
    await expectDeleted(collect(store.client.readStream(`$$${stream}`)), `$$${stream}`);
    await expectDeleted(
      store.client.appendToStream(`$$${stream}`, jsonEvent({ type: '$metadata', data: {} })),
      `$$${stream}`,
    );
  });

  it('shows its tombstone in $all with revision 2^63 - 1', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    const { position } = await store.client.tombstoneStream(stream);
    const [last] = await collect(store.client.readAll({ fromPosition: position!, maxCount: 1 }));
    expect(last!.event).include({ streamId: stream, type: '$streamDeleted', revision: 2n ** 63n - 1n });
  });

  it('may have been missing or soft-deleted before', async () => {
    const missing = freshStream();
    await store.client.tombstoneStream(missing, { expectedRevision: NO_STREAM });
    const soft = freshStream();
    await store.client.appendToStream(soft, numberedEvent(0));
    await store.client.deleteStream(soft);
    await store.client.tombstoneStream(soft);
    for (const stream of [missing, soft]) await expectDeleted(collect(store.client.readStream(stream)), stream);
  });

  it('is guarded by an expected revision', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    const wrong = store.client.tombstoneStream(stream, { expectedRevision: 5n });
    expect(await rejection(wrong)).instanceOf(WrongExpectedVersionError);
    await store.client.tombstoneStream(stream, { expectedRevision: 0n });
  });
});
