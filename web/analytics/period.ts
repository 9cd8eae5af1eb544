/** Period of a report: the last days, or a custom range. */
import { dayAt, instantOf } from './formatting.js';

export type Period = { readonly days: number } | { readonly start: string; readonly end: string };

const DEFAULT_PERIOD: Period = { days: 30 };
const DAY_MS = 86_400_000;
/** Longer periods are clamped by the service. */
const MAX_DAYS = 730;

/** Lengths in days that the picker offers. */
export const PRESETS = [1, 7, 30, 90, 365] as const;

/** Reads the period from URL parameters. */
export function periodOf(query: URLSearchParams): Period {
  const [start, end, days] = [query.get('start'), query.get('end'), Number(query.get('days'))];
  if (start && end) return { start, end };
  return Number.isInteger(days) && days >= 1 ? { days: Math.min(days, MAX_DAYS) } : DEFAULT_PERIOD;
}

export type Range = { readonly start: string; readonly end: string };

/** First and last day of a period, both inclusive. */
export const rangeOf = (period: Period, now: number): Range =>
  'start' in period ? period : { start: dayAt(now - (period.days - 1) * DAY_MS), end: dayAt(now) };

const lengthOf = ({ start, end }: Range): number => Math.round((instantOf(end) - instantOf(start)) / DAY_MS) + 1;

/** The range of equal length before (-1) or after (1); undefined if it would begin in the future. */
export function shiftRange(range: Range, direction: -1 | 1, now: number): Range | undefined {
  const shiftMs = direction * lengthOf(range) * DAY_MS;
  const [start, end] = [range.start, range.end].map((day) => dayAt(instantOf(day) + shiftMs)) as [string, string];
  return start > dayAt(now) ? undefined : { start, end };
}

/** A range that ends today is a number of days, so that it goes on tomorrow. */
export const periodFrom = (range: Range, now: number): Period =>
  range.end === dayAt(now) ? { days: lengthOf(range) } : range;

export const isSamePeriod = (one: Period, other: Period): boolean => JSON.stringify(one) === JSON.stringify(other);
