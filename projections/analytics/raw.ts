/** Projection of raw hit records, stored for debugging if `analytics.storeRaw` is set. */
import type { Db } from 'mongodb';
import type { RawCounter } from '../../application/analytics/expire-days.js';
import type { Rows, Vault } from '../../application/ports/index.js';
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../domain/analytics/hit.js';
import { assertBuildExists, type Projection, type Row } from '../kernel/index.js';
import { DEBOUNCE_MS } from './daily-counts.js';

const RAW_MODEL = 'analytics.raw';

export interface RawRow extends Row {
  /** Site instance. */
  readonly site: string;
  /** Unix ms. */
  readonly at: number;
  /** Ciphertext as in the event. */
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

/** Rows counted per query, plus those with the same timestamp as the last. */
const CHUNK = 50_000;

/** `build` returns the active build's collection. */
export const createRawCounter = (db: Db, build: () => string | undefined, { piece = CHUNK } = {}): RawCounter => ({
  async countBefore(instant) {
    const name = build();
    const rows = db.collection<RawRow>(`${name}`);
    let count = 0;
    let at: { $lt: number; $gt?: number } = { $lt: instant };
    for (;;) {
      // Chunked, as one query over all rows could exceed the call timeout.
      const last = await rows.find({ at }).sort({ at: 1 }).skip(piece).limit(1).next();
      count += await rows.countDocuments({ at: last ? { ...at, $lte: last.at } : at });
      if (!last) break;
      at = { ...at, $gt: last.at };
    }
    await assertBuildExists(db, name);
    return count;
  },
});

export interface RawPorts {
  readonly rows: Pick<Rows, 'find'>;
  readonly vault: Pick<Vault, 'open'>;
}

/** Reads the newest `limit` records of a site, newest last. A record may hold several hits. */
export async function readNewestRawHits({ rows, vault }: RawPorts, instance: string, limit: number) {
  const query = { filter: { site: instance }, sort: { at: -1 }, limit } as const;
  const found = await rows.find<RawRow>(RAW_MODEL, query);
  const hits: object[] = [];
  for (const { at, secret } of found.toReversed()) {
    const decrypted = (await vault.open(siteSubject({ instance }), secret)) as
      | HitsCollected['data']['secret']
      | undefined;
    for (const hit of decrypted?.hits ?? []) hits.push({ timestamp: new Date(at).toISOString(), ...hit });
  }
  return hits;
}
