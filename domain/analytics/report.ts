/** What a report tells of a period, from what was counted of its days. */
import { type DayCounts, type DaySummary, LISTS, type ListName, OTHER } from './day.js';
import { before, daysOf, type Period } from './period.js';

export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** Items of a list, and lines of a trend. */
const SHOWN = 20;
const TRENDS = 10;
/** Entries that are looked through in one step. */
const STEP = 1000;
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

/** A step of what takes long: whoever goes through them may let others work between two. */
type Steps<Result> = Generator<undefined, Result, undefined>;

/**
 * `summaries`: of the days of the period and of the one before; `counts`: of those of the period. A year of full lists
 * takes a second, and so comes in steps of some milliseconds at most.
 */
export function* reportOf(period: Period, summaries: Of<DaySummary>, counts: Of<DayCounts>) {
  const days = daysOf(period);
  const totals = totalsOf(days, summaries);
  const previous = totalsOf(daysOf(before(period)), summaries);
  const lists = new Map<ListName, Entries>();
  for (const list of LISTS) lists.set(list, yield* highestOf(days, counts, list));
  const of = (list: ListName) => lists.get(list) ?? [];
  const named = (list: ListName): readonly Counted[] => of(list).map(([name, count]) => ({ name, count }));
  return {
    range: period,
    totals,
    comparison: { previous, delta: deltaOf(totals, previous) },
    series: days.map((date) => ({ date, ...(summaries(date) ?? NOTHING) })),
    pages: named('pages'),
    events: named('events'),
    referrers: named('referrers'),
    campaigns: of('campaigns').map(([key, count]) => ({ ...campaignOf(key), count })),
    browsers: named('browsers'),
    os: named('os'),
    devices: named('devices'),
    countries: named('countries'),
    properties: of('properties').map(([key, count]) => ({ ...propertyOf(key), count })),
    trends: TRENDING.flatMap((category) =>
      of(category)
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

export type Report = ReturnType<typeof reportOf> extends Steps<infer Result> ? Result : never;

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

type Entry = readonly [name: string, count: number];
type Entries = readonly Entry[];

/** Highest first, then by name: as many as are shown. */
function* highestOf(days: readonly string[], counts: Of<DayCounts>, list: ListName): Steps<Entries> {
  const all = new Map<string, number>();
  for (const day of days) {
    for (const [name, times] of counts(day)?.lists[list] ?? []) all.set(name, (all.get(name) ?? 0) + times);
    yield;
  }
  const highest: Entry[] = [];
  let seen = 0;
  for (const entry of all) {
    if (++seen % STEP === 0) yield;
    const last = highest[SHOWN - 1];
    if (last && !isAbove(entry, last)) continue;
    const below = highest.findIndex((each) => isAbove(entry, each));
    highest.splice(below === -1 ? highest.length : below, 0, entry);
    if (highest.length > SHOWN) highest.pop();
  }
  return highest;
}

const isAbove = ([a, x]: Entry, [b, y]: Entry) => x > y || (x === y && a < b);

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
