/** The lists of a report and the labels of their items. */

import type { Cell } from '../shared/csv.js';
import type { NamedCount, Report, Trend } from './contract.js';
import { country } from './formatting.js';

/** An item: its columns, then its count. */
export type Row = readonly [...what: readonly Cell[], count: number];

export interface ListOf {
  readonly name: string;
  readonly title: string;
  /** Unit of the counts. */
  readonly counts: string;
  /** CSV column headers. */
  readonly headers: readonly string[];
  rows(report: Report): readonly Row[];
  label(what: readonly Cell[]): string;
  /** Hidden if empty; used by few sites. */
  readonly isRare?: true;
}

type SimpleListName = 'pages' | 'events' | 'referrers' | 'browsers' | 'os' | 'devices' | 'countries';

const simpleList = (name: SimpleListName, title: string, counts: string, head: string): ListOf => ({
  name,
  title,
  counts,
  headers: [head, 'count'],
  rows: (report) => report[name].map(({ name: what, count }: NamedCount) => [what, count]),
  label: ([what = '']) => String(what),
});

/** Removes the scheme of a web origin. */
export const siteOf = (origin: string): string => origin.replace(/^https?:\/\//, '');

export const LISTS: readonly ListOf[] = [
  simpleList('pages', 'Pages', 'Views', 'page'),
  { ...simpleList('referrers', 'Referrers', 'Hits', 'referrer'), label: ([origin]) => siteOf(String(origin)) },
  {
    name: 'campaigns',
    title: 'Campaigns',
    counts: 'Hits',
    headers: ['source', 'medium', 'campaign', 'count'],
    rows: ({ campaigns }) => campaigns.map(({ source, medium, campaign, count }) => [source, medium, campaign, count]),
    // Must equal the labels of trends.
    label: (parts) => parts.filter(Boolean).join(' / '),
  },
  simpleList('events', 'Events', 'Events', 'event'),
  {
    name: 'properties',
    title: 'Properties of events',
    counts: 'Events',
    headers: ['event', 'property', 'value', 'count'],
    rows: ({ properties }) => properties.map(({ event, property, value, count }) => [event, property, value, count]),
    label: ([event, property, value]) => (property === '' ? String(event) : `${event}: ${property} = ${value}`),
    isRare: true,
  },
  simpleList('browsers', 'Browsers', 'Hits', 'browser'),
  simpleList('os', 'Systems', 'Hits', 'os'),
  simpleList('devices', 'Devices', 'Hits', 'device'),
  {
    ...simpleList('countries', 'Countries', 'Hits', 'country'),
    label: ([code]) => country(String(code)),
    isRare: true,
  },
];

export const trendOf = ({ trends }: Report, category: string, label: string): Trend | undefined =>
  trends.find((trend) => trend.category === category && trend.label === label);

/** Whether trends of two reports are the same line. */
export const isSameTrend = (one: Trend | undefined, other: Trend | undefined): boolean =>
  one !== undefined && one.category === other?.category && one.label === other.label;
