/** What must follow the end of a site: its key destroyed, and the streams of its days ended for ever. */
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import { dayOf, trafficStream } from '../../domain/analytics/hit-batch.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import type { AggregateStore } from '../command/index.js';
import type { EventLog, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { retentionAggregate } from './aggregates.js';

export interface ErasePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly streams: Pick<AggregateStore, 'reload'>;
}

const DAY_MS = 86_400_000;

/** Each step does no harm when done again, so a crash between two of them is made good by the next run. */
export const eraseReaction = ({ log, vault, streams }: ErasePorts): Reaction<AnalyticsEvent<'SiteDeleted'>> => ({
  name: 'analytics.erase',
  retryInBackground: true,
  on: {
    async SiteDeleted({ data }) {
      await vault.destroy(siteSubject(data));
      const { before } = (await streams.reload(retentionAggregate, RETENTION)).state;
      // Hits of days that had ended stand in the stream of the first that had not, which may lie ahead.
      const last = Math.max(data.deletedAt, before === '' ? 0 : Date.parse(before));
      // A day more than it lived: the clock of a node that had not heard yet may have been ahead.
      for (let at = data.registeredAt - DAY_MS; at <= last + DAY_MS; at += DAY_MS) {
        const stream = trafficStream(data.instance, dayOf(at));
        if (typeof (await log.read(stream, { limit: 1 })) !== 'string') await log.tombstone(stream);
      }
    },
  },
});
