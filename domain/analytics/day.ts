/** Counts of a site's day: totals, bounded lists of frequent values, and a sketch of unique visitors. */
import type { Hit } from './catalog.js';
import { type Bounds, createFrequentValues, type FrequentValues, type SerializedList } from './frequent-values.js';
import { addVisitors, countUniques, emptySketch, REGISTERS, type Sketch, type Visitor } from './hyperloglog.js';

export const LISTS = [
  'pages',
  'events',
  'referrers',
  'campaigns',
  'browsers',
  'os',
  'devices',
  'countries',
  'properties',
] as const;
export type ListName = (typeof LISTS)[number];

/** Bounds of a day's list of frequent values. Values come from strangers, so their total length is bounded too. */
export const BOUNDS: Bounds = { values: 1000, characters: 96 * 1024 };
/** The referrer of a page view without one. */
export const DIRECT = '(direct)';
/** Browser, system or device of an unrecognized user agent. */
export const UNKNOWN = '(unknown)';

export interface DaySummary {
  readonly pageviews: number;
  readonly events: number;
  readonly uniques: number;
}

/** Mutable counts of a day. Campaigns and properties are keyed by the JSON of their parts. */
export interface DayCounts {
  pageviews: number;
  events: number;
  visitors: Sketch;
  readonly lists: { readonly [list in ListName]: FrequentValues };
  /** Lists changed since this set was last cleared. */
  readonly changed: Set<ListName>;
}

const listsFrom = (serialized: SerializedDay['lists']) =>
  Object.fromEntries(
    LISTS.map((list) => [list, createFrequentValues(BOUNDS, serialized[list])]),
  ) as unknown as DayCounts['lists'];

export const emptyDay = (): DayCounts => ({
  pageviews: 0,
  events: 0,
  visitors: emptySketch,
  lists: listsFrom({}),
  changed: new Set(),
});

/**
 * Adds hits and visitors to a day. Pages and direct visits count page views, events count by name, all other lists count
 * every hit. Unrecognized user agents count as `(unknown)`.
 */
export function count(day: DayCounts, hits: readonly Hit[], visitors: readonly Visitor[]): void {
  for (const hit of hits) {
    const { event, path, referrer, campaign, browser, os, device, country, properties = [] } = hit;
    if (event === undefined) day.pageviews++;
    else day.events++;
    addValue(day, 'pages', event === undefined ? path : undefined);
    addValue(day, 'events', event);
    addValue(day, 'referrers', referrer ?? (event === undefined ? DIRECT : undefined));
    addValue(day, 'browsers', browser ?? UNKNOWN);
    addValue(day, 'os', os ?? UNKNOWN);
    addValue(day, 'devices', device ?? UNKNOWN);
    addValue(day, 'countries', country);
    if (campaign) addValue(day, 'campaigns', JSON.stringify([campaign.source, campaign.medium, campaign.campaign]));
    for (const { name, value } of properties) addValue(day, 'properties', JSON.stringify([event, name, value]));
  }
  if (visitors.length > 0) day.visitors = addVisitors(day.visitors, visitors);
}

function addValue({ lists, changed }: DayCounts, list: ListName, value: string | undefined): void {
  if (value === undefined) return;
  changed.add(list);
  lists[list].add(value);
}

export const summaryOf = ({ pageviews, events, visitors }: DayCounts): DaySummary => ({
  pageviews,
  events,
  uniques: countUniques(visitors),
});

/** JSON form of a day. Lists are serialized one by one, as most are unchanged by a write. */
export interface SerializedDay extends SerializedHead {
  readonly lists: { readonly [list in ListName]?: SerializedList };
}

export interface SerializedHead {
  readonly pageviews: number;
  readonly events: number;
  readonly visitors: { readonly exact: readonly Visitor[] } | { readonly ranks: string };
}

/** Character code of rank 0; ranks, 51 at most, are stored as one character each. */
const RANK_ZERO = 48;

export const serializeHead = ({ pageviews, events, visitors }: DayCounts): SerializedHead => ({
  pageviews,
  events,
  visitors:
    'exact' in visitors
      ? { exact: [...visitors.exact].sort() }
      : { ranks: Array.from(visitors.registers, (rank) => String.fromCharCode(RANK_ZERO + rank)).join('') },
});

export const serializeDayList = ({ lists }: DayCounts, list: ListName): SerializedList => lists[list].serialize();

export const serializeDay = (day: DayCounts): SerializedDay => ({
  ...serializeHead(day),
  lists: Object.fromEntries(LISTS.map((list) => [list, serializeDayList(day, list)])),
});

export function deserializeDay({ pageviews, events, visitors, lists }: SerializedDay): DayCounts {
  const sketch =
    'exact' in visitors
      ? { exact: new Set(visitors.exact) }
      : {
          registers: Uint8Array.from({ length: REGISTERS }, (_, at) => visitors.ranks.charCodeAt(at) - RANK_ZERO),
        };
  return { pageviews, events, visitors: sketch, lists: listsFrom(lists), changed: new Set() };
}
