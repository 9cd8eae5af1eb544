/** What a report tells of a period, from what was counted of its days. */
import { type DayCounts, type DaySummary, type ListName, OTHER } from './day.js';
import { before, daysOf, type Period } from './period.js';

export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** Items of a list, and lines of a trend. */
const SHOWN = 20;
const TRENDS = 10;
const TRENDING = [
  'pages',
  'events',
  'browsers',
  'devices',
  'campaigns',
] as const satisfies readonly ListName[];
const NOTHING: DaySummary = { pageviews: 0, events: 0, uniques: 0 };
const METRICS = ['pageviews', 'events', 'uniques'] as const;

type Of<Value> = (day: string) => Value | undefined;

/** `summaries`: of the days of the period and of the one before; `counts`: of those of the period. */
export function reportOf(period: Period, summaries: Of<DaySummary>, counts: Of<DayCounts>) {
  const days = daysOf(period);
  const totals = totalsOf(days, summaries);
  const previous = totalsOf(daysOf(before(period)), summaries);
  const lists = (list: ListName) => listOf(days, counts, list);
  const named = (list: ListName): readonly Counted[] =>
    lists(list)
      .slice(0, SHOWN)
      .map(([name, count]) => ({ name, count }));
  return {
    range: period,
    totals,
    comparison: { previous, delta: deltaOf(totals, previous) },
    series: days.map((date) => ({ date, ...(summaries(date) ?? NOTHING) })),
    pages: named('pages'),
    events: named('events'),
    referrers: named('referrers'),
    campaigns: lists('campaigns')
      .slice(0, SHOWN)
      .map(([key, count]) => ({ ...campaignOf(key), count })),
    browsers: named('browsers'),
    os: named('os'),
    devices: named('devices'),
    countries: named('countries'),
    properties: lists('properties')
      .slice(0, SHOWN)
      .map(([key, count]) => ({ ...propertyOf(key), count })),
    trends: TRENDING.flatMap((category) =>
      lists(category)
        .slice(0, TRENDS)
        .map(([id, total]) => ({
          category,
          id,
          label: category === 'campaigns' ? labelOf(campaignOf(id)) : id,
          total,
          values: days.map((date) => ({ date, count: counts(date)?.lists[category].get(id) ?? 0 })),
        })),
    ),
  };
}

export type Report = ReturnType<typeof reportOf>;

function totalsOf(days: readonly string[], summaries: Of<DaySummary>): DaySummary {
  const sum = (metric: keyof DaySummary) =>
    days.reduce((all, day) => all + (summaries(day)?.[metric] ?? 0), 0);
  return { pageviews: sum('pageviews'), events: sum('events'), uniques: sum('uniques') };
}

/** In whole percent; 0 where there was nothing and is nothing, null where there was nothing to compare with. */
function deltaOf(now: DaySummary, then: DaySummary) {
  const of = (metric: keyof DaySummary) =>
    then[metric] === 0
      ? now[metric] === 0
        ? 0
        : null
      : Math.round(((now[metric] - then[metric]) / then[metric]) * 100);
  const [pageviews, events, uniques] = METRICS.map(of);
  return { pageviews: pageviews!, events: events!, uniques: uniques! };
}

/** Highest first, then by name. */
function listOf(days: readonly string[], counts: Of<DayCounts>, list: ListName): [string, number][] {
  const all = new Map<string, number>();
  for (const day of days)
    for (const [name, times] of counts(day)?.lists[list] ?? []) all.set(name, (all.get(name) ?? 0) + times);
  return [...all].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

function campaignOf(key: string) {
  const [source = '', medium = '', campaign = ''] = partsOf(key) as readonly string[];
  return { source, medium, campaign };
}

function propertyOf(key: string) {
  const [event = '', property = '', value = ''] = partsOf(key);
  return { event: String(event), property: String(property), value };
}

const partsOf = (key: string): readonly (string | number | boolean)[] =>
  key === OTHER ? [OTHER] : JSON.parse(key);

const labelOf = (campaign: { readonly [part: string]: string }) =>
  Object.values(campaign).filter(Boolean).join(' / ');
