/** What a site sees in a day: in which stream it stands, and how the hits of a moment become one event. */
import type { AnalyticsEvent, Hit } from './catalog.js';

export type HitsCollected = AnalyticsEvent<'HitsCollected'>;

/** A site in one of its lives. */
export interface SiteInstance {
  readonly siteId: string;
  readonly instance: string;
}

const DAY_MS = 86_400_000;
/** The day that was named last: hits of one day come together. */
let named = { day: Number.NaN, name: '' };

/** `2026-11-22` for every instant of that day in UTC. */
export function dayOf(instant: number): string {
  const day = Math.floor(instant / DAY_MS);
  if (day !== named.day) named = { day, name: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return named.name;
}

export const trafficStream = (instance: string, day: string): string => `analytics.traffic-${instance}-${day}`;

/**
 * The day in whose stream hits stand: their own or, where a clock that was ahead has let go of days that had yet to be
 * over, the first that it has not. The stream of their own is gone for good. `before`: days before it have ended.
 */
export const writableDay = (day: string, before: string): string => (day < before ? before : day);

/** Where a request with an `Idempotency-Key` stands. */
export const requestStream = (commandId: string): string => `analytics.request-${commandId}`;

/** `visitors` in any order: theirs says nothing. */
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
