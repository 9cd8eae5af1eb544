/** Tests unsupported services. */
import { persistentSubscriptionToAllSettingsFromDefaults } from '@eventstore/db-client';
import { expect } from 'chai';
import { freshStream, rejection, useEventStore } from '../../support/eventstore-client.js';

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
