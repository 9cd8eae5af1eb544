/** Periods of whole UTC days, as they are asked for and as they are shown. */
import { dayOf } from './hit-batch.js';

export const DAY_MS = 86_400_000;
export const MOST_DAYS = 730;

/** Days as `2026-11-22`, the first and the last included. */
export interface Period {
  readonly days: number;
  readonly start: string;
  readonly end: string;
}

const instantOf = (day: string): number => Date.parse(`${day}T00:00:00.000Z`);
const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(instantOf(text)) && dayOf(instantOf(text)) === text;

/** So many days up to today; more than the most count as the most. */
export function lastDays(days: number, now: number): Period {
  const kept = Math.min(days, MOST_DAYS);
  return { days: kept, start: dayOf(now - (kept - 1) * DAY_MS), end: dayOf(now) };
}

/** From a day to a day; undefined where these are none, in the wrong order, or too far apart. */
export function periodBetween(start: string, end: string): Period | undefined {
  if (!isDay(start) || !isDay(end)) return undefined;
  const days = Math.round((instantOf(end) - instantOf(start)) / DAY_MS) + 1;
  return days >= 1 && days <= MOST_DAYS ? { days, start, end } : undefined;
}

/** The period of the same length just before. */
export const previousPeriod = ({ days, start }: Period): Period => ({
  days,
  start: dayOf(instantOf(start) - days * DAY_MS),
  end: dayOf(instantOf(start) - DAY_MS),
});

export const daysOf = ({ days, start }: Period): readonly string[] =>
  Array.from({ length: days }, (_, index) => dayOf(instantOf(start) + index * DAY_MS));
