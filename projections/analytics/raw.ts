/** What came lately, as it was counted: for those who look for a fault, where it is said that it be kept. */
import type { Db } from 'mongodb';
import type { RawCounter } from '../../application/analytics/expire-days.js';
import { RAW_MODEL } from '../../application/analytics/raw-hits.js';
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { assertBuildExists, type Projection, type Row } from '../kernel/index.js';
import { DEBOUNCE_MS } from './daily-counts.js';

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
  debounceMs: DEBOUNCE_MS,
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

/** Rows that are counted by one call, and those of the same instant as the last of them. */
const PIECE = 50_000;

/** `build`: that which is served. */
export const createRawCounter = (db: Db, build: () => string | undefined, { piece = PIECE } = {}): RawCounter => ({
  async countBefore(instant) {
    const name = build();
    const rows = db.collection<RawRow>(`${name}`);
    let count = 0;
    let at: { $lt: number; $gt?: number } = { $lt: instant };
    for (;;) {
      // There may be more of them than a store looks through within one call.
      const last = await rows.find({ at }).sort({ at: 1 }).skip(piece).limit(1).next();
      count += await rows.countDocuments({ at: last ? { ...at, $lte: last.at } : at });
      if (!last) break;
      at = { ...at, $gt: last.at };
    }
    await assertBuildExists(db, name);
    return count;
  },
});
