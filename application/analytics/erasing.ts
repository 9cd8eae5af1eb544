/** What must follow the end of a site: its key destroyed, and the streams of its days ended for ever. */
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import { dayOf, trafficStream } from '../../domain/analytics/traffic.js';
import type { Reaction } from '../follow/reactions.js';
import type { EventLog, Vault } from '../ports.js';

export interface ErasePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly vault: Pick<Vault, 'destroy'>;
}

const DAY_MS = 86_400_000;

/** Each step does no harm when done again, so a crash between two of them is made good by the next run. */
export const eraseReaction = ({ log, vault }: ErasePorts): Reaction<AnalyticsEvent<'SiteDeleted'>> => ({
  name: 'analytics.erase',
  unordered: true,
  on: {
    async SiteDeleted({ data }) {
      await vault.destroy(siteSubject(data));
      // A day more than it lived: the clock of a node that had not heard yet may have been ahead.
      for (let at = data.registeredAt - DAY_MS; at <= data.deletedAt + DAY_MS; at += DAY_MS) {
        const stream = trafficStream(data.instance, dayOf(at));
        if (typeof (await log.read(stream, { limit: 1 })) !== 'string') await log.tombstone(stream);
      }
    },
  },
});
