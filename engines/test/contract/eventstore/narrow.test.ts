/** Tests that the embedded event store refuses unsupported requests instead of answering almost correctly. */
import {
  ANY,
  EventStoreDBClient,
  eventTypeFilter,
  excludeSystemEvents,
  NO_STREAM,
  streamNameFilter,
} from '@eventstore/db-client';
import { expect } from 'chai';
import { collect, freshStream, numberedEvent, rejection, useEventStore } from '../../support/eventstore-client.js';

const UNIMPLEMENTED = 12;

if (!process.env.EVENTSTORE_URL) {
  describe('the embedded event store refuses', () => {
    const store = useEventStore();

    for (const [name, filter] of Object.entries({
      streams: streamNameFilter({ regex: '^chat' }),
      types: eventTypeFilter({ regex: '^chat' }),
      'types, as the driver leaves system events out': excludeSystemEvents(),
    })) {
      it(`a regular expression over ${name}`, async () => {
        const error = await rejection(collect(store.client.subscribeToAll({ filter })));
        expect(error).property('code', UNIMPLEMENTED);
      });
    }

    it('an empty append', async () => {
      const stream = freshStream();
      for (const expectedRevision of [ANY, NO_STREAM] as const) {
        const empty = store.client.appendToStream(stream, [], { expectedRevision });
        expect(await rejection(empty)).instanceOf(Error);
      }
    });

    it('access control lists', async () => {
      const set = store.client.setStreamMetadata(freshStream(), { acl: { readRoles: ['a'] } });
      expect(await rejection(set)).instanceOf(Error);
    });

    it('soft deletes, subscriptions to one stream and discovery by gossip', async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, numberedEvent(0));
      expect(await rejection(store.client.deleteStream(stream))).property('code', UNIMPLEMENTED);
      const subscription = collect(store.client.subscribeToStream(stream));
      expect(await rejection(subscription)).property('code', UNIMPLEMENTED);
      const { host, search } = new URL(store.server.url.replace(/^esdb:/, 'http:'));
      const url = `esdb+discover://${host}${search}&maxDiscoverAttempts=1`;
      const client = EventStoreDBClient.connectionString(url);
      expect(await rejection(client.appendToStream(stream, numberedEvent(1)))).instanceOf(Error);
      await client.dispose();
    });

    it('the deletion of metadata', async () => {
      const stream = freshStream();
      await store.client.appendToStream(stream, numberedEvent(0));
      await store.client.setStreamMetadata(stream, { maxCount: 3 });
      expect(await rejection(store.client.tombstoneStream(`$$${stream}`))).instanceOf(Error);
      expect((await store.client.getStreamMetadata(stream)).metadata).deep.equal({ maxCount: 3 });
    });
  });
}
