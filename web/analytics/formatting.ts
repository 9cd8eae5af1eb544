/** Formats numbers, days and reasons for display. */
import type { Metric } from './contract.js';

const NUMBER = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const utc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
const DAY = utc({ day: 'numeric', month: 'short', year: 'numeric' });
const LONG_DAY = utc({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const TICK = utc({ day: 'numeric', month: 'short' });
const MONTH = utc({ month: 'short', year: 'numeric' });
/** In the user's time zone. */
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const REGIONS = new Intl.DisplayNames('en', { type: 'region' });

export const number = (value: number): string => NUMBER.format(value);
export const short = (value: number): string => SHORT.format(value);
export const instantOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
/** Formats an instant (Unix ms) as `2026-11-22`. */
export const dayAt = (instant: number): string => new Date(instant).toISOString().slice(0, 10);
export const day = (date: string): string => DAY.format(instantOf(date));
export const longDay = (date: string): string => LONG_DAY.format(instantOf(date));
/** Axis label for Unix seconds. */
export const tick = (seconds: number, isMonth: boolean): string => (isMonth ? MONTH : TICK).format(seconds * 1000);
export const time = (instant: string): string => TIME.format(Date.parse(instant));

export const NAMES: { readonly [metric in Metric]: string } = {
  pageviews: 'Page views',
  uniques: 'Visitors',
  events: 'Events',
};

/** `1 page view`, `12 page views`. */
export function pluralize(count: number, one: string): string {
  return `${number(count)} ${count === 1 ? one : `${one}s`}`;
}

const ONE: { readonly [metric in Metric]: string } = {
  pageviews: 'page view',
  uniques: 'visitor',
  events: 'event',
};
export const formatMetric = (count: number, metric: Metric): string => pluralize(count, ONE[metric]);

/** Unknown codes are shown unchanged. */
export function country(code: string): string {
  try {
    return REGIONS.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Why a hit is ignored and what to do about it. */
export function reason(code: string | null, host: string | null): string {
  switch (code) {
    case 'unknown_site':
      return 'no site has this id';
    case 'privacy_signal':
      return 'the browser asks not to be tracked (DNT or GPC)';
    case 'host_not_allowed':
      return `${host ?? 'the host'} is not a domain of the site; add it in the settings`;
    case 'ingest_token_required':
      return 'the ingest token is missing or wrong';
    case 'too_many_hits':
      return 'the network exceeds analytics.hitsPerMinute';
    case 'bot':
      return 'the user agent is a bot';
    default:
      return code ?? 'unknown reason';
  }
}
