/** What a site saw in a day, counted: totals, lists of a bounded length, and a sketch of who came. */
import type { Hit } from './catalog.js';
import { type Bounds, createFrequentValues, type FrequentValues, type SerializedList } from './frequent-values.js';
import { emptySketch, REGISTERS, type Sketch, countUniques, type Visitor, addVisitors } from './hyperloglog.js';

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

/**
 * Bounds of a list of a day, whose most frequent values are kept. Values are as long as strangers make them, so their
 * characters are bounded, too.
 */
export const BOUNDS: Bounds = { values: 1000, characters: 96 * 1024 };
/** The referrer of a page view without one. */
export const DIRECT = '(direct)';
/** The browser, system or device of a user agent that does not tell. */
export const UNKNOWN = '(unknown)';

export interface DaySummary {
  readonly pageviews: number;
  readonly events: number;
  readonly uniques: number;
}

/** Grows with what is counted. Campaigns and properties are named by the JSON of their parts. */
export interface DayCounts {
  pageviews: number;
  events: number;
  visitors: Sketch;
  readonly lists: { readonly [list in ListName]: FrequentValues };
  /** Lists that something came to since it was emptied. */
  readonly changed: Set<ListName>;
}

const listsFrom = (written: SerializedDay['lists']) =>
  Object.fromEntries(
    LISTS.map((list) => [list, createFrequentValues(BOUNDS, written[list])]),
  ) as unknown as DayCounts['lists'];

export const emptyDay = (): DayCounts => ({
  pageviews: 0,
  events: 0,
  visitors: emptySketch,
  lists: listsFrom({}),
  changed: new Set(),
});

/**
 * Counts pages and direct visits by page views, events by their names, everything else by every hit. What a user agent
 * does not tell counts as `(unknown)`.
 */
export function count(day: DayCounts, hits: readonly Hit[], visitors: readonly Visitor[]): void {
  for (const hit of hits) {
    const { event, path, referrer, campaign, browser, os, device, country, properties = [] } = hit;
    if (event === undefined) day.pageviews++;
    else day.events++;
    note(day, 'pages', event === undefined ? path : undefined);
    note(day, 'events', event);
    note(day, 'referrers', referrer ?? (event === undefined ? DIRECT : undefined));
    note(day, 'browsers', browser ?? UNKNOWN);
    note(day, 'os', os ?? UNKNOWN);
    note(day, 'devices', device ?? UNKNOWN);
    note(day, 'countries', country);
    if (campaign) note(day, 'campaigns', JSON.stringify([campaign.source, campaign.medium, campaign.campaign]));
    for (const { name, value } of properties) note(day, 'properties', JSON.stringify([event, name, value]));
  }
  if (visitors.length > 0) day.visitors = addVisitors(day.visitors, visitors);
}

function note({ lists, changed }: DayCounts, list: ListName, value: string | undefined): void {
  if (value === undefined) return;
  changed.add(list);
  lists[list].add(value);
}

export const summaryOf = ({ pageviews, events, visitors }: DayCounts): DaySummary => ({
  pageviews,
  events,
  uniques: countUniques(visitors),
});

/** As JSON; lists apart, since most of them are as they were when something comes. */
export interface SerializedDay extends SerializedHead {
  readonly lists: { readonly [list in ListName]?: SerializedList };
}

export interface SerializedHead {
  readonly pageviews: number;
  readonly events: number;
  readonly visitors: { readonly exact: readonly Visitor[] } | { readonly ranks: string };
}

/** Of a rank, which is 51 at most, a character. */
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
