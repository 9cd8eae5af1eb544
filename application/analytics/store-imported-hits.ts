/** Stores imported hits, one stream per batch, so that a batch that is imported again is detected. */

import { randomUUID } from 'node:crypto';
import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, hitsCollected, requestStream, type SiteInstance } from '../../domain/analytics/hit.js';
import { DAY_MS } from '../../domain/analytics/report.js';
import { type EventOrigin, type KernelPorts, newEvent } from '../command/index.js';
import type { Digester, EventLog } from '../ports/index.js';
import { visitorOf } from './collect-hits.js';
import type { DailyVisitorKeys } from './daily-visitor-keys.js';

export interface HistoricalHit {
  readonly site: SiteInstance;
  /** Unix ms. */
  readonly at: number;
  readonly hit: Hit;
  /** Visitor identity; hashed and never stored. Undefined if unknown. */
  readonly visitor: { readonly address: string; readonly userAgent: string } | undefined;
}

export interface ImportBatch {
  /** Deterministic, so that repeated imports match. Derived from hits without visitors. */
  readonly id: string;
  /** Distinguishes different batches with the same id. */
  readonly fingerprint: string;
  /** Hits of one UTC day. */
  readonly hits: readonly HistoricalHit[];
}

export interface HistoricalHitPorts extends Pick<KernelPorts, 'clock' | 'context'> {
  readonly log: Pick<EventLog, 'append' | 'read' | 'retain'>;
  readonly visitorKeys: Pick<DailyVisitorKeys, 'hasherFor'>;
  readonly origin: EventOrigin;
  readonly retentionDays: number;
}

export type StoreImportBatch = ReturnType<typeof createImportBatchStore>;

/**
 * Stores a batch unless its id is taken. After `UnavailableError`, storing the same batch again is safe.
 *
 * Visitors are hashed with today's key, which is destroyed after today. The key of the hits' own day no longer exists.
 */
export const createImportBatchStore =
  ({ log, visitorKeys, origin, clock, retentionDays, context }: HistoricalHitPorts) =>
  async ({ id, fingerprint, hits }: ImportBatch) => {
    const now = clock.now();
    const today = dayOf(now);
    const hash = await visitorKeys.hasherFor(today);
    const stream = requestStream(id);
    // Unique event ids per attempt: the store would report repeated ids as newly appended.
    const attempt = ` ${randomUUID()}`;
    const eventContext = { ...context('analytics.past'), commandId: id, fingerprint };
    const events = groupBySiteAndHour(hits).map((each, index) => {
      const [{ site, at }] = each as [HistoricalHit];
      const visitors = each.flatMap((hit) => visitorIn(hit, today, hash) ?? []);
      const event = hitsCollected(
        site,
        at,
        each.map(({ hit }) => hit),
        [...new Set(visitors)],
      );
      return newEvent(origin, stream, event, index, eventContext, attempt);
    });
    // The stream expires with its day.
    const expiresAt = Math.floor((hits[0]?.at ?? now) / DAY_MS + 1 + retentionDays) * DAY_MS;
    await log.retain(stream, { maxAgeSeconds: Math.max(1, Math.ceil((expiresAt - now) / 1000)) });
    const { outcome } = await log.append(stream, 'none', events);
    if (outcome === 'appended') return { isNew: true, fingerprint };
    const found = await log.read(stream, { limit: 1 });
    const first = typeof found === 'string' ? undefined : found[0];
    return { isNew: false, fingerprint: first?.metadata.fingerprint ?? fingerprint };
  };

/** Groups hits by site and hour, as an event has one time for all of its hits. */
function groupBySiteAndHour(hits: readonly HistoricalHit[]): readonly HistoricalHit[][] {
  const groups = new Map<string, HistoricalHit[]>();
  for (const hit of hits) {
    const key = `${hit.site.instance} ${Math.floor(hit.at / HOUR_MS)}`;
    const group = groups.get(key);
    if (group) group.push(hit);
    else groups.set(key, [hit]);
  }
  return [...groups.values()];
}

const HOUR_MS = 3_600_000;

/** Mixes the day into the hash, so that visitors cannot be linked between days despite the shared key. */
function visitorIn({ site, at, visitor }: HistoricalHit, today: string, hash: Digester | undefined) {
  if (!visitor) return undefined;
  const day = dayOf(at);
  const { instance } = site;
  return visitorOf(hash, day === today ? instance : `${day} ${instance}`, visitor.address, visitor.userAgent);
}
