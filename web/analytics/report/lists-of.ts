/** The lists of a report: how their rows are named, counted and saved. */
import type { Cell } from '../../shared/csv.js';
import type { FilterName, ListName, NamedCount, Report, Trend } from '../contract.js';
import { country, siteOf } from '../formatting.js';
import { listNames } from '../texts.js';
import type { FilterValue } from './filters.js';

/** A row: its columns, then its count. */
export type Row = readonly [...what: readonly Cell[], count: number];

/** Remainder of a list; has no bar and cannot be selected. */
export const OTHER = '(other)';

export interface ListOf {
  readonly name: ListName;
  readonly title: string;
  /** Unit of the counts. */
  readonly counts: string;
  /** CSV column headers. */
  readonly headers: readonly string[];
  rows(report: Report): readonly Row[];
  label(what: readonly Cell[]): string;
  /** Hits that shares are of. */
  whole(report: Report): number;
  /** Hidden if empty; used by few sites. */
  readonly isRare?: true;
}

type SimpleListName = Exclude<ListName, 'campaigns' | 'properties' | 'goals'>;

const allHits = ({ totals }: Report) => totals.pageviews + totals.events;
/** Without page views, as when filtered by an event, pages count events. */
const viewsOrEvents = ({ totals }: Report) => totals.pageviews || totals.events;
const allEvents = ({ totals }: Report) => totals.events;

/** Unit of a list's counts. */
export const countsOf = ({ name, counts }: ListOf, { totals }: Report): string =>
  name === 'pages' && totals.pageviews === 0 ? listNames.events.counts : counts;

const simpleList = (name: SimpleListName, head: string, whole: ListOf['whole']): ListOf => ({
  name,
  ...listNames[name],
  headers: [head, 'count'],
  rows: (report) => report[name].map(({ name: what, count }: NamedCount) => [what, count]),
  label: ([what = '']) => String(what),
  whole,
});

const LISTS: { readonly [name in ListName]: ListOf } = {
  pages: simpleList('pages', 'page', viewsOrEvents),
  // Entries are no share of the views, and their sum is not known.
  entryPages: simpleList('entryPages', 'page', () => 0),
  // Mostly page views: the tracker sends the referrer with the first view only.
  referrers: { ...simpleList('referrers', 'referrer', viewsOrEvents), label: ([origin]) => siteOf(String(origin)) },
  campaigns: {
    name: 'campaigns',
    ...listNames.campaigns,
    headers: ['source', 'medium', 'campaign', 'count'],
    rows: ({ campaigns }) => campaigns.map(({ source, medium, campaign, count }) => [source, medium, campaign, count]),
    // Must equal the labels of trends.
    label: (parts) => parts.filter(Boolean).join(' / '),
    whole: allHits,
  },
  events: simpleList('events', 'event', allEvents),
  properties: {
    name: 'properties',
    ...listNames.properties,
    headers: ['event', 'property', 'value', 'count'],
    rows: ({ properties }) => properties.map(({ event, property, value, count }) => [event, property, value, count]),
    label: ([event, property, value]) => (property === '' ? String(event) : `${event}: ${property} = ${value}`),
    whole: allEvents,
    isRare: true,
  },
  goals: {
    name: 'goals',
    ...listNames.goals,
    headers: ['goal', 'rate', 'count'],
    rows: ({ goals }) => goals.map(({ name, rate, count }) => [name, rate ?? '', count]),
    label: ([name = '']) => String(name),
    whole: ({ totals }) => totals.uniques ?? 0,
    isRare: true,
  },
  browsers: simpleList('browsers', 'browser', allHits),
  os: simpleList('os', 'os', allHits),
  devices: simpleList('devices', 'device', allHits),
  countries: {
    ...simpleList('countries', 'country', allHits),
    label: ([code]) => country(String(code)),
    isRare: true,
  },
};

export interface ListGroup {
  readonly id: 'pages' | 'sources' | 'devices' | 'events';
  readonly lists: readonly ListOf[];
}

/** Lists that share a card. */
export const GROUPS: readonly ListGroup[] = [
  { id: 'pages', lists: [LISTS.pages, LISTS.entryPages] },
  { id: 'sources', lists: [LISTS.referrers, LISTS.campaigns] },
  { id: 'devices', lists: [LISTS.browsers, LISTS.os, LISTS.devices, LISTS.countries] },
  { id: 'events', lists: [LISTS.goals, LISTS.events, LISTS.properties] },
];

/** A row as it is shown. */
export interface Item {
  readonly key: string;
  readonly label: string;
  readonly count: number;
  /** Percent of the most frequent value, for its bar. */
  readonly bar: number;
  readonly trend: Trend | undefined;
  /** What the report can be filtered by. */
  readonly filter: { readonly list: FilterName; readonly value: FilterValue } | undefined;
}

export function itemsOf(list: ListOf, report: Report): readonly Item[] {
  const rows = list.rows(report);
  const countOf = (row: Row) => Number(row.at(-1));
  const highest = Math.max(1, ...rows.map((row) => (row[0] === OTHER ? 0 : countOf(row))));
  return rows.map((row) => {
    const what = row.slice(0, -1);
    const [label, count, filter] = [list.label(what), countOf(row), filterOf(list, what)];
    return {
      key: JSON.stringify(filter?.value ?? what),
      label,
      count,
      bar: row[0] === OTHER ? 0 : (100 * count) / highest,
      filter,
      trend: report.trends.find((trend) => trend.category === list.name && trend.label === label),
    };
  });
}

function filterOf({ name }: ListOf, what: readonly Cell[]): Item['filter'] {
  if (name === 'properties' || what[0] === OTHER) return undefined;
  if (name === 'campaigns') return { list: name, value: what.map(String) };
  return { list: name === 'goals' ? 'events' : name, value: String(what[0] ?? '') };
}

export const labelOfFilter = (list: FilterName, value: FilterValue): string => LISTS[list].label([value].flat());

/** Whether they are the same line, maybe of two reports. */
export const isSameTrend = (
  one: Pick<Trend, 'category' | 'label'> | undefined,
  other: Pick<Trend, 'category' | 'label'> | undefined,
): boolean => one !== undefined && one.category === other?.category && one.label === other.label;

/** `shop-pages-2026-11-01-2026-11-30.csv` */
export const fileName = (site: string, what: string, { range: { start, end } }: Report): string =>
  `${site}-${what}-${start}-${end}.csv`;
