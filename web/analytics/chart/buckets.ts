/** Groups the hours or days of a report into the points of a chart: hours, days, weeks (from Monday) or months, in UTC. */

import { utcClockTime } from '../../shared/components/time.js';
import type { Metric, Metrics, Report } from '../contract.js';
import { day, dayAt, instantOf, longDay, longMonth } from '../formatting.js';
import { periodTexts } from '../texts.js';

export type Resolution = 'hour' | 'day' | 'week' | 'month';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** Longest periods in days that are shown by day, and by week, unless chosen otherwise. */
const MAX_BY_DAY = 100;
const MAX_BY_WEEK = 400;
/** Shortest periods in days that can be shown by week, and by month. */
const MIN_BY_WEEK = 21;
const MIN_BY_MONTH = 62;

/** A point of the chart. */
export interface Bucket {
  /** Unix ms. */
  readonly start: number;
  readonly label: string;
  /** Indices of its first and last value in the report. */
  readonly first: number;
  readonly last: number;
  /** Whether a part of it is outside of the period, or is not over. */
  readonly isPartial: boolean;
  /** Whether it is not over. */
  readonly isUnfinished: boolean;
  /** Whether it has not begun. */
  readonly isFuture: boolean;
}

/** Resolutions to choose from. Visitors are counted by day only. */
export function resolutionsOf(
  { range, hours }: Pick<Report, 'range' | 'hours'>,
  metric: Metric,
): readonly Resolution[] {
  if (range.days === 1) return hours && metric !== 'uniques' ? ['hour'] : ['day'];
  if (range.days < MIN_BY_WEEK) return ['day'];
  return range.days < MIN_BY_MONTH ? ['day', 'week'] : ['day', 'week', 'month'];
}

/** The chosen resolution if the period allows it, else the one that suits its length. */
export function resolutionFor(
  report: Pick<Report, 'range' | 'hours'>,
  metric: Metric,
  chosen: Resolution | undefined,
): Resolution {
  const allowed = resolutionsOf(report, metric);
  if (chosen && allowed.includes(chosen)) return chosen;
  if (report.range.days <= MAX_BY_DAY) return allowed[0] ?? 'day';
  return report.range.days <= MAX_BY_WEEK ? 'week' : 'month';
}

/** Start of the week or month of a day, and of the next one, in Unix ms. */
function spanOf(date: string, resolution: Resolution): readonly [start: number, end: number] {
  const at = instantOf(date);
  const of = new Date(at);
  if (resolution === 'week') {
    const monday = at - ((of.getUTCDay() + 6) % 7) * DAY_MS;
    return [monday, monday + 7 * DAY_MS];
  }
  if (resolution === 'month')
    return [Date.UTC(of.getUTCFullYear(), of.getUTCMonth()), Date.UTC(of.getUTCFullYear(), of.getUTCMonth() + 1)];
  return [at, at + DAY_MS];
}

function labelOf(first: string, last: string, isWhole: boolean, resolution: Resolution): string {
  if (resolution === 'day') return longDay(first);
  if (resolution === 'month' && isWhole) return longMonth(first);
  return periodTexts.between(day(first), day(last));
}

/** `now`: Unix ms by the service's clock. */
export function bucketsOf({ range, series, hours }: Report, resolution: Resolution, now: number): readonly Bucket[] {
  if (resolution === 'hour' && hours) return hoursOf(range.start, hours.length, now);
  const buckets: Bucket[] = [];
  for (let first = 0; first < series.length; ) {
    const date = series[first]?.date ?? '';
    const [start, end] = spanOf(date, resolution);
    let last = first;
    while (last + 1 < series.length && instantOf(series[last + 1]?.date ?? '') < end) last++;
    const lastDate = series[last]?.date ?? '';
    const isUnfinished = instantOf(lastDate) + DAY_MS > now || (end > now && lastDate === dayAt(now));
    const isWhole = instantOf(date) === start && instantOf(lastDate) + DAY_MS === end;
    const label = labelOf(date, lastDate, isWhole || isUnfinished, resolution);
    buckets.push({
      start,
      label,
      first,
      last,
      isPartial: !isWhole || isUnfinished,
      isUnfinished,
      isFuture: start > now,
    });
    first = last + 1;
  }
  return buckets;
}

function hoursOf(date: string, count: number, now: number): readonly Bucket[] {
  return Array.from({ length: count }, (_, index) => {
    const start = instantOf(date) + index * HOUR_MS;
    const isFuture = start > now;
    const isUnfinished = !isFuture && start + HOUR_MS > now;
    return {
      start,
      label: utcClockTime(start),
      first: index,
      last: index,
      isPartial: isUnfinished,
      isUnfinished,
      isFuture,
    };
  });
}

/** Values of a metric, by hour or by day; undefined if it is not kept so. */
export function valuesOf(
  { series, hours }: Report,
  metric: Metric,
  resolution: Resolution,
): readonly number[] | undefined {
  const values: readonly Partial<Metrics>[] = resolution === 'hour' && hours ? hours : series;
  const found = values.flatMap((each) => each[metric] ?? []);
  return found.length === values.length ? found : undefined;
}

/** Adds up values by bucket. */
export const sumsOf = (buckets: readonly Bucket[], values: readonly number[] = []): readonly number[] =>
  buckets.map(({ first, last }) => values.slice(first, last + 1).reduce((sum, value) => sum + value, 0));
