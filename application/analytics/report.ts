/** Builds reports from daily counts, so that the cost is independent of the number of hits. */

import type { DaySummary, Filters } from '../../domain/analytics/day.js';
import type { DayLists, SiteNames } from '../../domain/analytics/dictionary-encoding.js';
import { createFilteredReport, type FilteredReport, parseFilters } from '../../domain/analytics/filtered-report.js';
import type { SerializedList } from '../../domain/analytics/frequent-values.js';
import { dayOf } from '../../domain/analytics/hit.js';
import {
  buildReport,
  DAY_MS,
  DEFAULT_ITEMS,
  lastDays,
  type Period,
  periodBetween,
  previousPeriod,
  type Report,
} from '../../domain/analytics/report.js';
import type { Retention } from '../../domain/analytics/retention.js';
import { parseSiteId } from '../../domain/analytics/site-fields.js';
import { type Site, siteNotFound } from '../../domain/analytics/sites.js';
import { isRejection, type Rejection, rejection } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import { createFairSemaphore, runSliced } from '../concurrency/index.js';
import { awaitConsistent } from '../consistency/index.js';
import type { Position, ProjectionProgress } from '../ports/index.js';
import type { SiteDirectory } from './sites.js';

/** Counts for a report, by day. */
export interface ReportDays {
  readonly summaries: ReadonlyMap<string, DaySummary>;
  /** Oldest day of the site with data; undefined if there is none. */
  readonly firstDay: string | undefined;
  readonly lists: ReadonlyMap<string, DayLists>;
  readonly names: SiteNames;
}

/** Reads daily counts. All methods reject with `UnavailableError`. */
export interface DayReader {
  /** Returns summaries from `since` on, and lists for the days of the period. */
  read(instance: string, since: string, period: Pick<Period, 'start' | 'end'>): Promise<ReportDays>;
  /** Visits the combinations of days in no order. Returns the oldest day of the site with data. */
  readCombinations(
    instance: string,
    start: string,
    end: string,
    visit: (day: string, combinations: SerializedList) => void,
  ): Promise<string | undefined>;
  /** Number of days of a site. */
  countDays(instance: string): Promise<number>;
  /** Number of days before one, over all sites. */
  countBefore(day: string): Promise<number>;
}

export interface ReportPorts extends Pick<KernelPorts, 'projectionProgress' | 'clock'> {
  readonly directory: SiteDirectory;
  readonly days: DayReader;
  /** Retention state from the event log: which days have expired. */
  readonly retention: () => Promise<Retention>;
  readonly retentionDays: number;
}

/** The last `days` days, or an explicit range. */
export type PeriodQuery =
  | { readonly days: number }
  | { readonly start: string | undefined; readonly end: string | undefined };

export interface ReportOptions {
  /** JSON of the filters; see `parseFilters`. */
  readonly filters?: string | undefined;
  /** Items per list. */
  readonly limit?: number | undefined;
  readonly seenByCaller?: Position | undefined;
}

const badPeriod = rejection(
  'analytics/bad-period',
  'invalid',
  'start and end must be days such as 2026-11-22, in order, and at most 730 days apart',
);

/** Reports over more days need much memory, so their concurrency is limited; sites are queued fairly. */
const LONG_REPORT_DAYS = 100;
const MAX_LONG_REPORTS = 2;
const MAX_QUEUED_REPORTS = 100;

export const DAYS_MODEL = 'analytics.days';

export type Reports = ReturnType<typeof createReports>;

export function createReports(ports: ReportPorts) {
  const { directory, days, projectionProgress, clock, retention, retentionDays } = ports;
  const limitConcurrency = createFairSemaphore('long reports', MAX_LONG_REPORTS, MAX_QUEUED_REPORTS);

  function periodOf(query: PeriodQuery, now: number): Period | Rejection {
    if ('days' in query) return lastDays(query.days, now);
    return periodBetween(query.start ?? '', query.end ?? '') ?? badPeriod;
  }

  /** Creates a check whether every day of the period before can have counts. */
  async function completenessOf({ createdAt }: Site, since: string, now: number) {
    const retained = [(await retention()).before, dayOf(now - retentionDays * DAY_MS)];
    return (firstDay = '') => {
      // Imported hits may be older than their site.
      const firstDayWithData = [dayOf(createdAt), firstDay].filter(Boolean).sort()[0]!;
      return [firstDayWithData, ...retained].every((first) => first <= since);
    };
  }

  async function reportFor(site: Site, period: Period, now: number, limit: number): Promise<Report> {
    const since = previousPeriod(period).start;
    const isComplete = await completenessOf(site, since, now);
    const { summaries, firstDay, lists, names } = await days.read(site.instance, since, period);
    return runSliced(
      buildReport(period, {
        isPreviousComplete: isComplete(firstDay),
        summaries: (day) => summaries.get(day),
        lists: (day) => lists.get(day),
        names,
        limit,
        goals: site.goals,
      }),
    );
  }

  async function filteredReportFor(site: Site, period: Period, now: number, limit: number, filters: Filters) {
    const since = previousPeriod(period).start;
    const isComplete = await completenessOf(site, since, now);
    const filtered = createFilteredReport(period, filters, { limit, goals: site.goals });
    const firstDay = await days.readCombinations(site.instance, since, period.end, filtered.add);
    return filtered.report(isComplete(firstDay));
  }

  return async (id: string, query: PeriodQuery, options: ReportOptions = {}) => {
    const { limit = DEFAULT_ITEMS, seenByCaller } = options;
    const siteId = parseSiteId(id);
    if (siteId === undefined) return siteNotFound;
    const site = (await directory.find([siteId], seenByCaller))(siteId);
    if (!site) return siteNotFound;
    const now = clock.now();
    const period = periodOf(query, now);
    if (isRejection(period)) return period;
    const filters = options.filters === undefined ? undefined : parseFilters(options.filters);
    if (filters && isRejection(filters)) return filters;
    const lastWrite = projectionProgress.latestOf('analytics');
    const consistency = await awaitConsistent(projectionProgress, DAYS_MODEL, { lastAppend: lastWrite, seenByCaller });
    const buildSiteReport = (): Promise<Report | FilteredReport> =>
      filters ? filteredReportFor(site, period, now, limit, filters) : reportFor(site, period, now, limit);
    const report = await (period.days > LONG_REPORT_DAYS
      ? limitConcurrency(buildSiteReport, siteId)
      : buildSiteReport());
    return { body: { site: siteId, generatedAt: new Date(now).toISOString(), ...report }, ...consistency };
  };
}

/** Creates a counter of a site's days that includes hits acknowledged just before. */
export const createDayCount =
  (days: Pick<DayReader, 'countDays'>, projectionProgress: ProjectionProgress) =>
  async (instance: string): Promise<number> => {
    await projectionProgress.wait(DAYS_MODEL, projectionProgress.latestOf('analytics'));
    return days.countDays(instance);
  };
