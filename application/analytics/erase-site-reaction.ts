/** Erases a deleted site: destroys its key and tombstones the streams of its days. */
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import { dayOf, trafficStream } from '../../domain/analytics/hit.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import type { AggregateStore } from '../command/index.js';
import type { EventLog, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { retentionAggregate } from './aggregates.js';

export interface ErasePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly aggregates: Pick<AggregateStore, 'reload'>;
}

const DAY_MS = 86_400_000;

/** Every step is idempotent; a run after a crash completes the remaining steps. */
export const eraseReaction = ({ log, vault, aggregates }: ErasePorts): Reaction<AnalyticsEvent<'SiteDeleted'>> => ({
  name: 'analytics.erase',
  retryInBackground: true,
  on: {
    async SiteDeleted({ data }) {
      await vault.destroy(siteSubject(data));
      const { before } = (await aggregates.reload(retentionAggregate, RETENTION)).state;
      // Hits of already expired days were written to the first day not expired, which may lie in the future.
      const last = Math.max(data.deletedAt, before === '' ? 0 : Date.parse(before));
      // One extra day on both sides, as the clocks of nodes may differ.
      for (let at = data.registeredAt - DAY_MS; at <= last + DAY_MS; at += DAY_MS) {
        const stream = trafficStream(data.instance, dayOf(at));
        if (typeof (await log.read(stream, { limit: 1 })) !== 'string') await log.tombstone(stream);
      }
    },
  },
});
