/** Tests tombstones. */
import {
  ANY,
  jsonEvent,
  NO_STREAM,
  STREAM_EXISTS,
  StreamDeletedError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { expect } from 'chai';
import { collect, freshStream, numberedEvent, rejection, useEventStore } from '../../support/eventstore-client.js';

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
    await expectDeleted(store.client.tombstoneStream(stream), stream);
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

  it('may have been missing before', async () => {
    const missing = freshStream();
    await store.client.tombstoneStream(missing, { expectedRevision: NO_STREAM });
    await expectDeleted(collect(store.client.readStream(missing)), missing);
  });

  it('is guarded by an expected revision', async () => {
    const stream = freshStream();
    await store.client.appendToStream(stream, numberedEvent(0));
    const wrong = store.client.tombstoneStream(stream, { expectedRevision: 5n });
    expect(await rejection(wrong)).instanceOf(WrongExpectedVersionError);
    await store.client.tombstoneStream(stream, { expectedRevision: 0n });
  });
});
