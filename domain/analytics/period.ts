/** Periods of whole UTC days. */
import { dayOf } from './hit-batch.js';

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
