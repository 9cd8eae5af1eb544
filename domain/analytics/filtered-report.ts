/** Builds the report of the hits that pass filters, from the combinations of values that were counted day by day. */
import { isRejection, type Rejection, rejection } from '../shared/index.js';
import { combinationFilter, FILTERS, type FilterName, type Filters } from './day.js';
import { OTHER, type SerializedList } from './frequent-values.js';
import { campaignOf, daysOf, goalOf, type NamedCount, type Period, percentChange, previousPeriod } from './report.js';

/** Parts of a report that cannot be filtered, because nothing about them is kept together with other values. */
export const NOT_KEPT = ['uniques', 'properties', 'trends', 'hours'] as const;

interface Totals {
  pageviews: number;
  events: number;
}

const noTotals = (): Totals => ({ pageviews: 0, events: 0 });

/** Counts one day after another, those of the previous period included. */
export function createFilteredReport(
  period: Period,
  filters: Filters,
  { limit, goals = [] }: { readonly limit: number; readonly goals?: readonly string[] },
) {
  const valuesOf = combinationFilter(filters);
  const byDay = new Map(daysOf(period).map((day) => [day, noTotals()]));
  const previous = noTotals();
  const previousEnd = previousPeriod(period).end;
  const previousLastDay = noTotals();
  const lists = new Map<FilterName, Map<string, number>>();
  let unlisted = 0;

  function addValue(list: FilterName, value: string, count: number) {
    const counts = lists.get(list) ?? new Map<string, number>();
    lists.set(list, counts.set(value, (counts.get(value) ?? 0) + count));
  }

  function add(day: string, combinations: SerializedList): void {
    const ofDay = byDay.get(day);
    for (const [key, count] of combinations) {
      if (key === OTHER && ofDay) unlisted += count;
      const values = key === OTHER ? undefined : valuesOf(key);
      if (!values) continue;
      const isView = values.events === null;
      const metric = isView ? 'pageviews' : 'events';
      (ofDay ?? previous)[metric] += count;
      if (day === previousEnd) previousLastDay[metric] += count;
      if (!ofDay) continue;
      for (const [list, value] of Object.entries(values) as [FilterName, string | null][]) {
        // Pages count page views, or the events that are filtered by.
        const isCounted = list !== 'pages' || isView || filters.events !== undefined;
        if (value !== null && isCounted) addValue(list, value, count);
      }
    }
  }

  function report(isPreviousComplete: boolean) {
    const totals = [...byDay.values()].reduce((sum, { pageviews, events }) => ({
      pageviews: sum.pageviews + pageviews,
      events: sum.events + events,
    }));
    const delta = (metric: keyof Totals) => percentChange(totals[metric], previous[metric], isPreviousComplete);
    const top = (list: FilterName): readonly NamedCount[] => topOf(lists.get(list) ?? new Map(), limit);
    return {
      filters,
      notKept: NOT_KEPT,
      /** Hits of the period in combinations that were too rare to be listed. */
      unlisted,
      range: period,
      totals: { ...totals, uniques: null },
      comparison: {
        previous: { ...previous, uniques: null, complete: isPreviousComplete },
        previousLastDay: { ...previousLastDay, uniques: null },
        delta: { pageviews: delta('pageviews'), events: delta('events'), uniques: null },
      },
      series: Array.from(byDay, ([date, counts]) => ({ date, ...counts, uniques: null })),
      pages: top('pages'),
      entryPages: top('entryPages'),
      events: top('events'),
      goals: goals.map((name) => goalOf(name, lists.get('events')?.get(name) ?? 0, null)),
      referrers: top('referrers'),
      campaigns: top('campaigns').map(({ name, count }) => ({ ...campaignOf(name), count })),
      browsers: top('browsers'),
      os: top('os'),
      devices: top('devices'),
      countries: top('countries'),
      properties: [],
      trends: [],
    };
  }

  return { add, report };
}

export type FilteredReport = ReturnType<ReturnType<typeof createFilteredReport>['report']>;

/** Returns the top items by count, then by name. */
const topOf = (counts: ReadonlyMap<string, number>, limit: number): readonly NamedCount[] =>
  Array.from(counts, ([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, limit);

const badFilters = rejection(
  'analytics/bad-filters',
  'invalid',
  `filters must be a JSON object of values by list, such as {"pages":"/pricing"}; lists are ${FILTERS.join(', ')}; ` +
    'a campaign is an array of source, medium and campaign',
);

/** Parses a JSON object of at least one filter. */
export function parseFilters(text: string): Filters | Rejection {
  const filters: { [name in FilterName]?: string } = {};
  let entries: [string, unknown][];
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return badFilters;
    entries = Object.entries(json);
  } catch {
    return badFilters;
  }
  for (const [name, value] of entries) {
    const parsed = FILTERS.some((each) => each === name) ? parseValue(name as FilterName, value) : badFilters;
    if (isRejection(parsed)) return parsed;
    filters[name as FilterName] = parsed;
  }
  return entries.length > 0 ? filters : badFilters;
}

function parseValue(name: FilterName, value: unknown): string | Rejection {
  if (name !== 'campaigns') return typeof value === 'string' ? value : badFilters;
  const isCampaign = Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === 'string');
  return isCampaign ? JSON.stringify(value) : badFilters;
}
