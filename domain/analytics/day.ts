/** What a site saw in a day, counted: totals, lists of a bounded length, and a sketch of who came. */
import type { Hit } from './catalog.js';
import { emptySketch, REGISTERS, type Sketch, uniquesOf, type Visitor, withVisitors } from './uniques.js';

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

/** Different values that a list of a day has at most; what is beyond is counted under one name. */
export const MOST_VALUES = 1000;
export const OTHER = '(other)';

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
  readonly lists: { readonly [list in ListName]: Map<string, number> };
}

export const emptyDay = (): DayCounts => ({
  pageviews: 0,
  events: 0,
  visitors: emptySketch,
  lists: Object.fromEntries(LISTS.map((list) => [list, new Map()])) as unknown as DayCounts['lists'],
});

/** Pages are counted where they were viewed, events by their names, everything else with every hit. */
export function count(day: DayCounts, hits: readonly Hit[], visitors: readonly Visitor[]): void {
  for (const hit of hits) {
    const { event, path, referrer, campaign, browser, os, device, country, properties = [] } = hit;
    if (event === undefined) day.pageviews++;
    else day.events++;
    note(day.lists.pages, event === undefined ? path : undefined);
    note(day.lists.events, event);
    note(day.lists.referrers, referrer);
    note(day.lists.browsers, browser);
    note(day.lists.os, os);
    note(day.lists.devices, device);
    note(day.lists.countries, country);
    if (campaign)
      note(day.lists.campaigns, JSON.stringify([campaign.source, campaign.medium, campaign.campaign]));
    for (const { name, value } of properties)
      note(day.lists.properties, JSON.stringify([event, name, value]));
  }
  if (visitors.length > 0) day.visitors = withVisitors(day.visitors, visitors);
}

function note(list: Map<string, number>, value: string | undefined): void {
  if (value === undefined) return;
  const known = list.get(value);
  const name = known !== undefined || list.size < MOST_VALUES ? value : OTHER;
  list.set(name, (known ?? list.get(name) ?? 0) + 1);
}

export const summaryOf = ({ pageviews, events, visitors }: DayCounts): DaySummary => ({
  pageviews,
  events,
  uniques: uniquesOf(visitors),
});

/** As JSON. */
export interface WrittenDay {
  readonly pageviews: number;
  readonly events: number;
  readonly visitors: { readonly exact: readonly Visitor[] } | { readonly ranks: string };
  readonly lists: { readonly [list in ListName]?: readonly (readonly [value: string, count: number])[] };
}

/** Of a rank, which is 51 at most, a character. */
const RANK_ZERO = 48;

export const writtenDay = ({ pageviews, events, visitors, lists }: DayCounts): WrittenDay => ({
  pageviews,
  events,
  visitors:
    'exact' in visitors
      ? { exact: [...visitors.exact].sort() }
      : { ranks: Array.from(visitors.registers, (rank) => String.fromCharCode(RANK_ZERO + rank)).join('') },
  lists: Object.fromEntries(LISTS.map((list) => [list, [...lists[list]]])),
});

export function readDay({ pageviews, events, visitors, lists }: WrittenDay): DayCounts {
  const day = emptyDay();
  for (const list of LISTS) for (const [value, times] of lists[list] ?? []) day.lists[list].set(value, times);
  const sketch =
    'exact' in visitors
      ? { exact: new Set(visitors.exact) }
      : {
          registers: Uint8Array.from(
            { length: REGISTERS },
            (_, at) => visitors.ranks.charCodeAt(at) - RANK_ZERO,
          ),
        };
  return Object.assign(day, { pageviews, events, visitors: sketch });
}
