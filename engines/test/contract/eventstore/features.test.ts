/** Tests discovery by gossip and unsupported services. */
import { EventStoreDBClient, persistentSubscriptionToAllSettingsFromDefaults } from '@eventstore/db-client';
import { expect } from 'chai';
import { freshStream, numberedEvent, rejection, useEventStore } from '../../support/eventstore-client.js';

describe('discovery', () => {
  const store = useEventStore();

  it('finds the one node by gossip, from one seed or several', async () => {
    const { host, search } = new URL(store.server.url.replace(/^esdb(\+discover)?:/, 'http:'));
    for (const url of [`esdb+discover://${host}${search}`, `esdb://${host},${host}${search}`]) {
      const client = EventStoreDBClient.connectionString(url);
      const answer = await client.appendToStream(freshStream(), numberedEvent(0));
      await client.dispose();
      expect(answer.success).equal(true);
    }
  });
});

if (!process.env.EVENTSTORE_URL) {
  describe('the embedded engine', () => {
    const store = useEventStore();

    it('refuses persistent subscriptions and projections', async () => {
      const { client } = store;
      const settings = persistentSubscriptionToAllSettingsFromDefaults();
      expect(await rejection(client.createPersistentSubscriptionToAll('group', settings))).instanceOf(Error);
      expect(await rejection(client.createProjection('p', 'fromAll()'))).have.property('code', 12);
    });

    it('refuses to resolve links instead of ignoring the option', async () => {
      const read = async () => {
        for await (const _ of store.client.readStream(freshStream(), { resolveLinkTos: true })) break;
      };
      expect(await rejection(read())).have.property('code', 12);
    });
  });
}
