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
/** And characters of them together: what strangers invent is as long as it may be. */
export const MOST_CHARACTERS = 96 * 1024;
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
  /** Of the values of each list. */
  readonly characters: { [list in ListName]: number };
  /** Lists that something came to since it was emptied. */
  readonly changed: Set<ListName>;
}

export const emptyDay = (): DayCounts => ({
  pageviews: 0,
  events: 0,
  visitors: emptySketch,
  lists: Object.fromEntries(LISTS.map((list) => [list, new Map()])) as unknown as DayCounts['lists'],
  characters: Object.fromEntries(LISTS.map((list) => [list, 0])) as DayCounts['characters'],
  changed: new Set(),
});

/** Pages are counted where they were viewed, events by their names, everything else with every hit. */
export function count(day: DayCounts, hits: readonly Hit[], visitors: readonly Visitor[]): void {
  for (const hit of hits) {
    const { event, path, referrer, campaign, browser, os, device, country, properties = [] } = hit;
    if (event === undefined) day.pageviews++;
    else day.events++;
    note(day, 'pages', event === undefined ? path : undefined);
    note(day, 'events', event);
    note(day, 'referrers', referrer);
    note(day, 'browsers', browser);
    note(day, 'os', os);
    note(day, 'devices', device);
    note(day, 'countries', country);
    if (campaign)
      note(day, 'campaigns', JSON.stringify([campaign.source, campaign.medium, campaign.campaign]));
    for (const { name, value } of properties) note(day, 'properties', JSON.stringify([event, name, value]));
  }
  if (visitors.length > 0) day.visitors = withVisitors(day.visitors, visitors);
}

function note({ lists, characters, changed }: DayCounts, list: ListName, value: string | undefined): void {
  if (value === undefined) return;
  const counts = lists[list];
  changed.add(list);
  const known = counts.get(value);
  const isTaken =
    known !== undefined || (counts.size < MOST_VALUES && characters[list] + value.length <= MOST_CHARACTERS);
  if (isTaken && known === undefined) characters[list] += value.length;
  const name = isTaken ? value : OTHER;
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

export const summaryOf = ({ pageviews, events, visitors }: DayCounts): DaySummary => ({
  pageviews,
  events,
  uniques: uniquesOf(visitors),
});

/** As JSON; lists apart, since most of them are as they were when something comes. */
export interface WrittenDay extends WrittenHead {
  readonly lists: { readonly [list in ListName]?: WrittenList };
}

export interface WrittenHead {
  readonly pageviews: number;
  readonly events: number;
  readonly visitors: { readonly exact: readonly Visitor[] } | { readonly ranks: string };
}

export type WrittenList = readonly (readonly [value: string, count: number])[];

/** Of a rank, which is 51 at most, a character. */
const RANK_ZERO = 48;

export const writtenHead = ({ pageviews, events, visitors }: DayCounts): WrittenHead => ({
  pageviews,
  events,
  visitors:
    'exact' in visitors
      ? { exact: [...visitors.exact].sort() }
      : { ranks: Array.from(visitors.registers, (rank) => String.fromCharCode(RANK_ZERO + rank)).join('') },
});

export const writtenList = ({ lists }: DayCounts, list: ListName): WrittenList => [...lists[list]];

export const writtenDay = (day: DayCounts): WrittenDay => ({
  ...writtenHead(day),
  lists: Object.fromEntries(LISTS.map((list) => [list, writtenList(day, list)])),
});

export function readDay({ pageviews, events, visitors, lists }: WrittenDay): DayCounts {
  const day = emptyDay();
  for (const list of LISTS)
    for (const [value, times] of lists[list] ?? []) {
      day.lists[list].set(value, times);
      if (value !== OTHER) day.characters[list] += value.length;
    }
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
