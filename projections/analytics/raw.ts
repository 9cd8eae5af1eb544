/** What came lately, as it was counted: for those who look for a fault, where it is said that it be kept. */
import type { Db } from 'mongodb';
import type { RawCounter } from '../../application/analytics/cleanup.js';
import { RAW_MODEL } from '../../application/analytics/raw.js';
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import type { Projection, Row } from '../projection.js';
import { assertStands } from '../standing.js';
import { GATHER_MS } from './days.js';

export interface RawRow extends Row {
  /** The instance. */
  readonly site: string;
  /** Unix ms. */
  readonly at: number;
  /** As it stands in the log. */
  readonly secret: string;
}

export const raw: Projection<AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'RawExpired'>> = {
  name: RAW_MODEL,
  version: 1,
  gatherMs: GATHER_MS,
  indexes: [
    { key: { site: 1, at: 1 }, name: 'newest' },
    { key: { at: 1 }, name: 'oldest' },
  ],
  on: {
    HitsCollected: ({ id, data: { instance, collectedAt, isRaw, secret } }) =>
      isRaw ? [{ put: id, update: { $set: { site: instance, at: collectedAt, secret } } }] : [],
    SiteDeleted: ({ data: { instance } }) => [{ purge: { site: instance }, many: true }],
    RawExpired: ({ data: { before } }) => [{ purge: { at: { $lt: before } }, many: true }],
  },
};

/** `build`: that which is served. */
export const createRawCounter = (db: Db, build: () => string | undefined): RawCounter => ({
  async countBefore(instant) {
    const name = build();
    const found = await db.collection<RawRow>(`${name}`).countDocuments({ at: { $lt: instant } });
    await assertStands(db, name);
    return found;
  },
});
