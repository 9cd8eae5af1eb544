/** Puts hits of the past into the log: each lot in a stream of its own, so that the store says what is there already. */
import { randomUUID } from 'node:crypto';
import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, hitsCollected, requestStream, type SiteInstance } from '../../domain/analytics/hit-batch.js';
import { DAY_MS } from '../../domain/analytics/period.js';
import { type EventOrigin, newEvent } from '../command/index.js';
import type { Clock, CommandContext, Digester, EventLog } from '../ports/index.js';
import { visitorOf } from './collect-hits.js';
import type { DailyVisitorKeys } from './daily-visitor-keys.js';

export interface PastHit {
  readonly site: SiteInstance;
  /** Unix ms. */
  readonly at: number;
  readonly hit: Hit;
  /** Who it is of; nobody, where they can not be told apart. Digested, and then forgotten. */
  readonly visitor: { readonly address: string; readonly userAgent: string } | undefined;
}

export interface ImportBatch {
  /** The same for the same lot, of whatever run; nothing of who came is in it. */
  readonly id: string;
  /** Tells it from another one of the same id. */
  readonly fingerprint: string;
  /** All of one day, in UTC. */
  readonly hits: readonly PastHit[];
}

export interface HistoricalHitPorts {
  readonly log: Pick<EventLog, 'append' | 'read' | 'retain'>;
  readonly visitorDays: Pick<DailyVisitorKeys, 'hasherFor'>;
  readonly origin: EventOrigin;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly context: (actor: string) => CommandContext;
}

export type StorePast = ReturnType<typeof createStorePast>;

export interface StoredBatch {
  /** It was not there before. */
  readonly isNew: boolean;
  /** Of what stands under its id. */
  readonly fingerprint: string;
}

/**
 * Stores a lot, unless something stands under its id. Rejects with `Unavailable`: the same lot again finds out what
 * became of it.
 *
 * Visitors are digested under the key of the day that it is now, which goes with that day like that of all who come on
 * it: their own day's is gone, and is never made again.
 */
export const createStorePast =
  ({ log, visitorDays, origin, clock, retentionDays, context }: HistoricalHitPorts) =>
  async ({ id, fingerprint, hits }: ImportBatch): Promise<StoredBatch> => {
    const now = clock.now();
    const today = dayOf(now);
    const digest = await visitorDays.hasherFor(today);
    const stream = requestStream(id);
    // Ids of its own each time: what the store took for a repetition it would answer like something new.
    const attempt = ` ${randomUUID()}`;
    const of = { ...context('analytics.past'), commandId: id, fingerprint };
    const events = lotOfEach(hits).map((each, index) => {
      const [{ site, at }] = each as [PastHit];
      const visitors = each.flatMap((hit) => visitorIn(hit, today, digest) ?? []);
      const event = hitsCollected(
        site,
        at,
        each.map(({ hit }) => hit),
        [...new Set(visitors)],
      );
      return newEvent(origin, stream, event, index, of, attempt);
    });
    // It goes when its day does.
    const ends = Math.floor((hits[0]?.at ?? now) / DAY_MS + 1 + retentionDays) * DAY_MS;
    await log.retain(stream, { maxAgeSeconds: Math.max(1, Math.ceil((ends - now) / 1000)) });
    const { outcome } = await log.append(stream, 'none', events);
    if (outcome === 'appended') return { isNew: true, fingerprint };
    const found = await log.read(stream, { limit: 1 });
    const first = typeof found === 'string' ? undefined : found[0];
    return { isNew: false, fingerprint: first?.metadata.fingerprint ?? fingerprint };
  };

/** By site. */
function lotOfEach(hits: readonly PastHit[]): PastHit[][] {
  const bySite = new Map<string, PastHit[]>();
  for (const hit of hits) {
    const known = bySite.get(hit.site.instance);
    if (known) known.push(hit);
    else bySite.set(hit.site.instance, [hit]);
  }
  return [...bySite.values()];
}

/** As if on another day there had been another key: nobody is found again from one day to the next. */
function visitorIn({ site, at, visitor }: PastHit, today: string, digest: Digester | undefined) {
  if (!visitor) return undefined;
  const day = dayOf(at);
  const { instance } = site;
  return visitorOf(digest, day === today ? instance : `${day} ${instance}`, visitor.address, visitor.userAgent);
}
