/** Which lists a report has, and how each of their items is called. */
import type { NamedCount, Report, Trend } from './contract.js';
import type { Cell } from './csv.js';
import { country } from './formatting.js';

/** An item: what it is, and last how often. */
export type Row = readonly [...what: readonly Cell[], count: number];

export interface ListOf {
  readonly name: string;
  readonly title: string;
  /** What is counted. */
  readonly counts: string;
  /** Of the columns that are saved. */
  readonly heads: readonly string[];
  rows(report: Report): readonly Row[];
  label(what: readonly Cell[]): string;
  /** Left out where it is empty: not every site has any. */
  readonly isRare?: true;
}

type Named = 'pages' | 'events' | 'referrers' | 'browsers' | 'os' | 'devices' | 'countries';

const named = (name: Named, title: string, counts: string, head: string): ListOf => ({
  name,
  title,
  counts,
  heads: [head, 'count'],
  rows: (report) => report[name].map(({ name: what, count }: NamedCount) => [what, count]),
  label: ([what = '']) => String(what),
});

/** An origin as people say it. */
export const siteOf = (origin: string): string => origin.replace(/^https?:\/\//, '');

export const LISTS: readonly ListOf[] = [
  named('pages', 'Pages', 'Views', 'page'),
  { ...named('referrers', 'Referrers', 'Hits', 'referrer'), label: ([origin]) => siteOf(String(origin)) },
  {
    name: 'campaigns',
    title: 'Campaigns',
    counts: 'Hits',
    heads: ['source', 'medium', 'campaign', 'count'],
    rows: ({ campaigns }) => campaigns.map(({ source, medium, campaign, count }) => [source, medium, campaign, count]),
    // As trends call them.
    label: (parts) => parts.filter(Boolean).join(' / '),
  },
  named('events', 'Events', 'Events', 'event'),
  {
    name: 'properties',
    title: 'Properties of events',
    counts: 'Events',
    heads: ['event', 'property', 'value', 'count'],
    rows: ({ properties }) => properties.map(({ event, property, value, count }) => [event, property, value, count]),
    label: ([event, property, value]) => (property === '' ? String(event) : `${event}: ${property} = ${value}`),
    isRare: true,
  },
  named('browsers', 'Browsers', 'Hits', 'browser'),
  named('os', 'Systems', 'Hits', 'os'),
  named('devices', 'Devices', 'Hits', 'device'),
  {
    ...named('countries', 'Countries', 'Hits', 'country'),
    label: ([code]) => country(String(code)),
    isRare: true,
  },
];

export const trendOf = ({ trends }: Report, category: string, label: string): Trend | undefined =>
  trends.find((trend) => trend.category === category && trend.label === label);

/** Of two reports: whether it is the same line. */
export const isSameTrend = (one: Trend | undefined, other: Trend | undefined): boolean =>
  one !== undefined && one.category === other?.category && one.label === other.label;
