/** Builds the report of a period from daily counts. */
import { type DaySummary, HOURS, hourKey, LISTS, type ListName } from './day.js';
import type { DayLists, Names, SiteNames, Tally } from './dictionary-encoding.js';
import { OTHER } from './frequent-values.js';
import { dayOf } from './hit.js';

export interface NamedCount {
  readonly name: string;
  readonly count: number;
}

/** Items per list, by default and at most. */
export const DEFAULT_ITEMS = 20;
export const MAX_ITEMS = 1000;
/** Trend lines per list. */
const TRENDS = 10;
/** Entries scanned between two yields. */
const STEP = 1000;
const TREND_LISTS = ['pages', 'events', 'browsers', 'devices', 'campaigns'] as const satisfies readonly ListName[];
const NO_COUNTS: DaySummary = { pageviews: 0, events: 0, uniques: 0 };
const METRICS = ['pageviews', 'events', 'uniques'] as const;

type ByDay<Value> = (day: string) => Value | undefined;

/** A long computation that yields regularly, so that the caller can let other work run. */
type Steps<Result> = Generator<undefined, Result, undefined>;

/** Daily counts that a report is built from. */
export interface Counts {
  /** For the days of the period and of the previous one. */
  readonly summaries: ByDay<DaySummary>;
  /** For the days of the period. */
  readonly lists: ByDay<DayLists>;
  readonly names: SiteNames;
  /** Whether every day of the previous period can have counts. */
  readonly isPreviousComplete: boolean;
  /** Items per list. */
  readonly limit?: number;
  /** Names of events that are goals. */
  readonly goals?: readonly string[];
}

export interface Goal extends NamedCount {
  /** Events per 100 visitors, with one decimal; null if the visitors are not known or none. */
  readonly rate: number | null;
}

export const goalOf = (name: string, count: number, visitors: number | null): Goal => ({
  name,
  count,
  rate: visitors ? Math.round((1000 * count) / visitors) / 10 : null,
});

/** Builds a report. Yields every few milliseconds, as a year of full lists takes long. */
export function* buildReport(period: Period, counts: Counts) {
  const { summaries, lists, names, isPreviousComplete, limit = DEFAULT_ITEMS, goals = [] } = counts;
  const days = daysOf(period);
  const totals = totalsOf(days, summaries);
  const before = previousPeriod(period);
  const previous = { ...totalsOf(daysOf(before), summaries), complete: isPreviousComplete };
  const previousLastDay = totalsOf([before.end], summaries);
  const top = new Map<ListName, Entries>();
  for (const list of LISTS) {
    const tallies = days.map((day) => lists(day)?.[list]);
    top.set(list, yield* topOf(tallies, names[list], limit));
  }
  const itemsOf = (list: ListName) => top.get(list) ?? [];
  const namedCounts = (list: ListName): readonly NamedCount[] =>
    itemsOf(list).map(([name, count]) => ({ name, count }));
  return {
    range: period,
    totals,
    comparison: { previous, previousLastDay, delta: deltaOf(totals, previous) },
    series: days.map((date) => ({ date, ...(summaries(date) ?? NO_COUNTS) })),
    ...(days.length === 1 && { hours: hoursOf(lists(period.start)?.hours, names.hours) }),
    pages: namedCounts('pages'),
    entryPages: namedCounts('entryPages'),
    events: namedCounts('events'),
    goals: goals.map((name) => goalOf(name, countOf(name, days, lists, names), totals.uniques)),
    referrers: namedCounts('referrers'),
    campaigns: itemsOf('campaigns').map(([key, count]) => ({ ...campaignOf(key), count })),
    browsers: namedCounts('browsers'),
    os: namedCounts('os'),
    devices: namedCounts('devices'),
    countries: namedCounts('countries'),
    properties: itemsOf('properties').map(([key, count]) => ({ ...propertyOf(key), count })),
    trends: TREND_LISTS.flatMap((category) =>
      itemsOf(category)
        .slice(0, TRENDS)
        .map(([id, total, byDay]) => ({
          category,
          id,
          label: category === 'campaigns' ? labelOf(campaignOf(id)) : id,
          total,
          values: days.map((date, day) => ({ date, count: byDay[day] ?? 0 })),
        })),
    ),
  };
}

export type Report = ReturnType<typeof buildReport> extends Steps<infer Result> ? Result : never;

/** Counts of the 24 hours of a day. */
function hoursOf(tally: Tally | undefined, { all }: Names) {
  const counts = new Map(Array.from(tally?.names ?? [], (name, index) => [all[name], tally?.counts[index]]));
  return Array.from({ length: HOURS }, (_, hour) => ({
    pageviews: counts.get(hourKey(hour, true)) ?? 0,
    events: counts.get(hourKey(hour, false)) ?? 0,
  }));
}

/** Counts an event over all days. */
function countOf(event: string, days: readonly string[], lists: ByDay<DayLists>, { events }: SiteNames): number {
  const number = events.numbers.get(event);
  if (number === undefined) return 0;
  return days.reduce((sum, day) => {
    const { names, counts } = lists(day)?.events ?? {};
    return sum + (counts?.[names?.indexOf(number) ?? -1] ?? 0);
  }, 0);
}

function totalsOf(days: readonly string[], summaries: ByDay<DaySummary>): DaySummary {
  const sum = (metric: keyof DaySummary) => days.reduce((all, day) => all + (summaries(day)?.[metric] ?? 0), 0);
  return { pageviews: sum('pageviews'), events: sum('events'), uniques: sum('uniques') };
}

interface Previous extends DaySummary {
  readonly complete: boolean;
}

function deltaOf(current: DaySummary, previous: Previous) {
  const [pageviews, events, uniques] = METRICS.map((metric) =>
    percentChange(current[metric], previous[metric], previous.complete),
  );
  return { pageviews: pageviews!, events: events!, uniques: uniques! };
}

/** Whole percent; 0 if both are zero, null if the previous count is zero or incomplete. */
export function percentChange(current: number, previous: number, isComplete: boolean): number | null {
  if (!isComplete) return null;
  if (previous === 0) return current === 0 ? 0 : null;
  return Math.round(((current - previous) / previous) * 100);
}

/** `byDay`: counts by day index, undefined for none; only of the first items. */
type Entry = readonly [name: string, count: number, byDay: readonly (number | undefined)[]];
type Entries = readonly Entry[];

/** Returns the top items by count, then by name. `(other)` is always last. */
function* topOf(tallies: readonly (Tally | undefined)[], { all, numbers }: Names, limit: number): Steps<Entries> {
  const sums = new Float64Array(all.length);
  for (const tally of tallies) {
    if (!tally) continue;
    const { names, counts } = tally;
    for (let index = 0; index < names.length; index++) sums[names[index]!]! += counts[index]!;
    yield;
  }
  const top: number[] = [];
  const other = numbers.get(OTHER);
  const hasOther = other !== undefined && sums[other]! > 0;
  const listed = hasOther ? limit - 1 : limit;
  const isAbove = (a: number, b: number) => sums[a]! > sums[b]! || (sums[a] === sums[b] && all[a]! < all[b]!);
  for (let name = 0; name < sums.length; name++) {
    if (name % STEP === 0) yield;
    const last = top[listed - 1];
    if (sums[name] === 0 || name === other || (last !== undefined && !isAbove(name, last))) continue;
    top.splice(placeOf(name, top, isAbove), 0, name);
    if (top.length > listed) top.pop();
  }
  if (hasOther) top.push(other);
  const lines = yield* byDayOf(tallies, top.slice(0, TRENDS), all.length);
  return top.map((name, index) => [all[name]!, sums[name]!, lines[index] ?? []]);
}

/** Index at which a name is inserted into names in order, by binary search. */
function placeOf(name: number, top: readonly number[], isAbove: (a: number, b: number) => boolean): number {
  let [low, high] = [0, top.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAbove(name, top[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the daily counts of each name. */
function* byDayOf(
  tallies: readonly (Tally | undefined)[],
  names: readonly number[],
  size: number,
): Steps<readonly (readonly (number | undefined)[])[]> {
  const lines = names.map((): (number | undefined)[] => []);
  const lineNumbers = new Uint8Array(size);
  for (const [index, name] of names.entries()) lineNumbers[name] = index + 1;
  for (const [day, tally] of tallies.entries()) {
    if (!tally) continue;
    for (let index = 0; index < tally.names.length; index++) {
      const lineNumber = lineNumbers[tally.names[index]!]!;
      if (lineNumber > 0) lines[lineNumber - 1]![day] = tally.counts[index];
    }
    yield;
  }
  return lines;
}

export function campaignOf(key: string) {
  const [source = '', medium = '', campaign = ''] = partsOf(key) as readonly string[];
  return { source, medium, campaign };
}

function propertyOf(key: string) {
  const [event = '', property = '', value = ''] = partsOf(key);
  return { event: String(event), property: String(property), value };
}

const partsOf = (key: string): readonly (string | number | boolean)[] => (key === OTHER ? [OTHER] : JSON.parse(key));

const labelOf = (campaign: { readonly [part: string]: string }) => Object.values(campaign).filter(Boolean).join(' / ');

export const DAY_MS = 86_400_000;
export const MAX_DAYS = 730;

/** Days as `2026-11-22`; start and end are inclusive. */
export interface Period {
  readonly days: number;
  readonly start: string;
  readonly end: string;
}

const instantOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(instantOf(text)) && dayOf(instantOf(text)) === text;

/** The last `days` days including today, clamped to the maximum. */
export function lastDays(days: number, now: number): Period {
  const count = Math.min(days, MAX_DAYS);
  return { days: count, start: dayOf(now - (count - 1) * DAY_MS), end: dayOf(now) };
}

/** Parses a range; undefined if a day is invalid, the order is wrong or the range is too long. */
export function periodBetween(start: string, end: string): Period | undefined {
  if (!isDay(start) || !isDay(end)) return undefined;
  const days = Math.round((instantOf(end) - instantOf(start)) / DAY_MS) + 1;
  return days >= 1 && days <= MAX_DAYS ? { days, start, end } : undefined;
}

/** The period of equal length just before. */
export const previousPeriod = ({ days, start }: Period): Period => ({
  days,
  start: dayOf(instantOf(start) - days * DAY_MS),
  end: dayOf(instantOf(start) - DAY_MS),
});

export const daysOf = ({ days, start }: Period): readonly string[] =>
  Array.from({ length: days }, (_, index) => dayOf(instantOf(start) + index * DAY_MS));
