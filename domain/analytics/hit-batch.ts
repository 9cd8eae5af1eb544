/** Streams of a site's hits, one per day, and the event that stores a batch of hits. */
import type { AnalyticsEvent, Hit } from './catalog.js';

export type HitsCollected = AnalyticsEvent<'HitsCollected'>;

/** One instance of a site; an id can be reused after deletion. */
export interface SiteInstance {
  readonly siteId: string;
  readonly instance: string;
}

const DAY_MS = 86_400_000;
/** Caches the last formatted day, as most hits belong to the same day. */
let lastDay = { day: Number.NaN, name: '' };

/** Formats the UTC day of an instant as `2026-11-22`. */
export function dayOf(instant: number): string {
  const day = Math.floor(instant / DAY_MS);
  if (day !== lastDay.day) lastDay = { day, name: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.name;
}

export const trafficStream = (instance: string, day: string): string => `analytics.traffic-${instance}-${day}`;

/**
 * Selects the stream day for hits of `day`: the day itself, or `before`, the first not expired day, if a clock running
 * ahead has expired `day` too early and its stream is tombstoned.
 */
export const writableDay = (day: string, before: string): string => (day < before ? before : day);

/** Stream of a request with an `Idempotency-Key`. */
export const requestStream = (commandId: string): string => `analytics.request-${commandId}`;

/** Creates the event. Visitors are sorted, so that their order reveals nothing about the hits. */
export function hitsCollected(
  { siteId, instance }: SiteInstance,
  collectedAt: number,
  hits: readonly Hit[],
  visitors: readonly string[],
  isRaw = false,
): HitsCollected {
  const events = hits.filter(({ event }) => event !== undefined).length;
  return {
    type: 'HitsCollected',
    data: {
      siteId,
      instance,
      day: dayOf(collectedAt),
      collectedAt,
      views: hits.length - events,
      events,
      ...(isRaw && { isRaw }),
      secret: { hits, visitors: [...visitors].sort() },
    },
  };
}
