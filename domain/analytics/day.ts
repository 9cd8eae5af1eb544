/** Counts of a site's day: totals, bounded lists of frequent values, and a sketch of unique visitors. */
import type { Hit } from './catalog.js';
import { type Bounds, createFrequentValues, type FrequentValues, type SerializedList } from './frequent-values.js';
import { addVisitors, countUniques, emptySketch, REGISTERS, type Sketch, type Visitor } from './hyperloglog.js';

/** Lists with values that can filter a report. */
export const FILTERS = [
  'pages',
  'events',
  'referrers',
  'campaigns',
  'browsers',
  'os',
  'devices',
  'countries',
  'entryPages',
] as const;
export type FilterName = (typeof FILTERS)[number];

/** Value of a hit in each list; null if it has none. `pages`: the path, of events too. */
export type HitValues = { readonly [name in FilterName]: string | null };

/** Required values. A campaign is the JSON of its parts. */
export type Filters = { readonly [name in FilterName]?: string };

export const LISTS = [...FILTERS, 'properties'] as const;
export type ListName = (typeof LISTS)[number];

/** Lists of a day that are added up for reports: `hours` has the hits of each hour. */
export const TALLIED_LISTS = [...LISTS, 'hours'] as const;
export type TalliedList = (typeof TALLIED_LISTS)[number];

/** All lists of a day: `combinations` has the hits by the combination of their values, for filtered reports. */
export const STORED_LISTS = [...TALLIED_LISTS, 'combinations'] as const;
export type StoredList = (typeof STORED_LISTS)[number];

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
  readonly lists: { readonly [list in StoredList]: FrequentValues };
  /** Lists changed since this set was last cleared. */
  readonly changed: Set<StoredList>;
}

const listsFrom = (serialized: SerializedDay['lists']) =>
  Object.fromEntries(
    STORED_LISTS.map((list) => [list, createFrequentValues(BOUNDS, serialized[list])]),
  ) as unknown as DayCounts['lists'];

export const emptyDay = (): DayCounts => ({
  pageviews: 0,
  events: 0,
  visitors: emptySketch,
  lists: listsFrom({}),
  changed: new Set(),
});

/**
 * Adds hits and visitors to a day. Pages and direct visits count page views, entry pages those that were not reached from
 * the site itself, events count by name, all other lists count every hit. Unrecognized user agents count as `(unknown)`.
 * `collectedAt`: Unix ms.
 */
export function count(day: DayCounts, hits: readonly Hit[], visitors: readonly Visitor[], collectedAt: number): void {
  const hour = hourOf(collectedAt);
  for (const hit of hits) {
    const values = valuesOf(hit);
    const isView = values.events === null;
    if (isView) day.pageviews++;
    else day.events++;
    for (const list of FILTERS) addValue(day, list, list === 'pages' && !isView ? null : values[list]);
    for (const { name, value } of hit.properties ?? [])
      addValue(day, 'properties', JSON.stringify([hit.event, name, value]));
    addValue(day, 'hours', hourKey(hour, isView));
    addValue(day, 'combinations', combinationKey(values));
  }
  if (visitors.length > 0) day.visitors = addVisitors(day.visitors, visitors);
}

function valuesOf({ event, path, isInternal, referrer, campaign, browser, os, device, country }: Hit): HitValues {
  return {
    pages: path,
    events: event ?? null,
    entryPages: event === undefined && !isInternal ? path : null,
    referrers: referrer ?? (event === undefined ? DIRECT : null),
    campaigns: campaign ? JSON.stringify([campaign.source, campaign.medium, campaign.campaign]) : null,
    browsers: browser ?? UNKNOWN,
    os: os ?? UNKNOWN,
    devices: device ?? UNKNOWN,
    countries: country ?? null,
  };
}

/** An item of a day's list of combinations. Entry pages are pages: `1` saves the repeated path. */
export const combinationKey = (values: HitValues): string =>
  JSON.stringify(FILTERS.map((name) => (name === 'entryPages' && values.entryPages !== null ? 1 : values[name])));

/** Creates a function that returns the values of a combination if it passes all filters. */
export function combinationFilter(filters: Filters): (key: string) => HitValues | undefined {
  const required = Object.entries(filters) as [FilterName, string][];
  const parts = required.map(([, value]) => JSON.stringify(value));
  return (key) => {
    // Parsing costs much more than searching, and most combinations do not pass.
    if (!parts.every((part) => key.includes(part))) return undefined;
    const values: readonly (string | 1 | null)[] = JSON.parse(key);
    const hit = Object.fromEntries(
      FILTERS.map((name, index) => [name, values[index] === 1 ? values[0] : values[index]]),
    ) as HitValues;
    return required.every(([name, value]) => hit[name] === value) ? hit : undefined;
  };
}

const HOUR_MS = 3_600_000;
export const HOURS = 24;

/** Hour of an instant's UTC day. */
const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS) % HOURS;

/** Value of the list `hours`. */
export const hourKey = (hour: number, isView: boolean): string => `${hour} ${isView ? 'view' : 'event'}`;

function addValue({ lists, changed }: DayCounts, list: StoredList, value: string | null): void {
  if (value === null) return;
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
  readonly lists: { readonly [list in StoredList]?: SerializedList };
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

export const serializeDayList = ({ lists }: DayCounts, list: StoredList): SerializedList => lists[list].serialize();

export const serializeDay = (day: DayCounts): SerializedDay => ({
  ...serializeHead(day),
  lists: Object.fromEntries(STORED_LISTS.map((list) => [list, serializeDayList(day, list)])),
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
