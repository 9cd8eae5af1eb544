/** Answers reports, from days that were counted: at a cost that does not grow with the number of hits. */
import type { DaySummary } from '../../domain/analytics/day.js';
import type { DayLists, SiteNames } from '../../domain/analytics/dictionary-encoding.js';
import { dayOf } from '../../domain/analytics/hit-batch.js';
import { previousPeriod, periodBetween, DAY_MS, lastDays, type Period } from '../../domain/analytics/period.js';
import { type Report, buildReport } from '../../domain/analytics/report.js';
import type { Retention } from '../../domain/analytics/retention.js';
import { siteIdOf } from '../../domain/analytics/site-fields.js';
import { type Site, siteNotFound } from '../../domain/analytics/sites.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import { createFairSemaphore, runSliced } from '../concurrency/index.js';
import { awaitConsistent, type Consistency } from '../consistency/index.js';
import type { Clock, Position, ProjectionProgress } from '../ports/index.js';
import type { SiteDirectory } from './site-directory.js';

/** What was counted of days, by day. */
export interface ReportDays {
  readonly summaries: ReadonlyMap<string, DaySummary>;
  /** The oldest day of the site that has a row; undefined where none has. */
  readonly firstDay: string | undefined;
  readonly lists: ReadonlyMap<string, DayLists>;
  readonly names: SiteNames;
}

/** Rows of days. Each rejects with `Unavailable`. */
export interface DayReader {
  /** The summaries of the days from `since` on, and the lists of those of the period. */
  read(instance: string, since: string, period: Pick<Period, 'start' | 'end'>): Promise<ReportDays>;
  /** How many there are of a site. */
  countDays(instance: string): Promise<number>;
  /** How many there are of days before one, of all sites. */
  countBefore(day: string): Promise<number>;
}

export interface ReportPorts {
  readonly directory: SiteDirectory;
  readonly days: DayReader;
  readonly settled: ProjectionProgress;
  readonly clock: Clock;
  /** Which days were let go, as the log has it. */
  readonly retention: () => Promise<Retention>;
  readonly retentionDays: number;
}

/** So many days up to today, or from one to another. */
export type PeriodQuery =
  | { readonly days: number }
  | { readonly start: string | undefined; readonly end: string | undefined };

export interface ReportView extends Report {
  readonly site: string;
  /** ISO 8601. */
  readonly generatedAt: string;
}

const badPeriod: Rejection = {
  rejected: 'analytics/bad-period',
  kind: 'invalid',
  detail: 'start and end must be days such as 2026-11-22, in their order, 730 days apart at most',
};

/** Reports of more days take so much memory until they are answered that few may at a time; others wait, and are let in by site. */
const LONG_DAYS = 100;
const LONG_AT_ONCE = 2;
const LONG_WAITING = 100;

export const DAYS_MODEL = 'analytics.days';

export type Reports = ReturnType<typeof createReports>;

export function createReports(ports: ReportPorts) {
  const { directory, days, settled, clock, retention, retentionDays } = ports;
  const atOnce = createFairSemaphore('long reports', LONG_AT_ONCE, LONG_WAITING);

  function periodOf(asked: PeriodQuery, now: number): Period | Rejection {
    if ('days' in asked) return lastDays(asked.days, now);
    return periodBetween(asked.start ?? '', asked.end ?? '') ?? badPeriod;
  }

  async function countedIn({ instance, createdAt }: Site, period: Period, now: number): Promise<Report> {
    const since = previousPeriod(period).start;
    const { summaries, firstDay = '', lists, names } = await days.read(instance, since, period);
    // Hits that were imported may be older than their site.
    const made = [dayOf(createdAt), firstDay].filter(Boolean).sort()[0]!;
    const kept = [(await retention()).before, dayOf(now - retentionDays * DAY_MS)];
    return runSliced(
      buildReport(period, {
        isPreviousComplete: [made, ...kept].every((first) => first <= since),
        summaries: (day) => summaries.get(day),
        lists: (day) => lists.get(day),
        names,
      }),
    );
  }

  return async (
    id: string,
    asked: PeriodQuery,
    seen?: Position,
  ): Promise<(Consistency & { readonly body: ReportView }) | Rejection> => {
    const siteId = siteIdOf(id);
    if (siteId === undefined) return siteNotFound;
    const site = (await directory.find([siteId], seen))(siteId);
    if (!site) return siteNotFound;
    const now = clock.now();
    const period = periodOf(asked, now);
    if (isRejection(period)) return period;
    const told = settled.latestOf('analytics');
    const reflected = await awaitConsistent(settled, DAYS_MODEL, { told, seen });
    const counted = () => countedIn(site, period, now);
    const report = await (period.days > LONG_DAYS ? atOnce(counted, siteId) : counted());
    return { body: { site: siteId, generatedAt: new Date(now).toISOString(), ...report }, ...reflected };
  };
}
