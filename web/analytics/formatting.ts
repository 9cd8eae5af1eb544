/** Formats numbers and days for display. */
const NUMBER = new Intl.NumberFormat('en');
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const SHARE = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const utc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
const DAY = utc({ day: 'numeric', month: 'short', year: 'numeric' });
const LONG_DAY = utc({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
const DAY_TICK = utc({ day: 'numeric', month: 'short' });
const MONTH_TICK = utc({ month: 'short', year: 'numeric' });
const LONG_MONTH = utc({ month: 'long', year: 'numeric' });
const REGIONS = new Intl.DisplayNames('en', { type: 'region' });

export const number = (value: number): string => NUMBER.format(value);
/** `12K` */
export const short = (value: number): string => SHORT.format(value);
/** Percent without its sign: `56`, `4.2`, `<0.1`. */
export function share(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent >= 10) return number(Math.round(percent));
  return percent > 0 && percent < 0.1 ? '<0.1' : SHARE.format(percent);
}
export const instantOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);
/** Formats an instant (Unix ms) as `2026-11-22`. */
export const dayAt = (instant: number): string => new Date(instant).toISOString().slice(0, 10);
export const day = (date: string): string => DAY.format(instantOf(date));
export const longDay = (date: string): string => LONG_DAY.format(instantOf(date));
export const longMonth = (date: string): string => LONG_MONTH.format(instantOf(date));
/** `22 Nov`, for Unix ms. */
export const dayTick = (instant: number): string => DAY_TICK.format(instant);
/** `Nov 2026`, for Unix ms. */
export const monthTick = (instant: number): string => MONTH_TICK.format(instant);

/** `1 page view`, `12 page views`. */
export function pluralize(count: number, one: string): string {
  return `${number(count)} ${count === 1 ? one : `${one}s`}`;
}

/** Unknown codes are shown unchanged. */
export function country(code: string): string {
  try {
    return REGIONS.of(code) ?? code;
  } catch {
    return code;
  }
}

/** Removes the scheme of a web origin. */
export const siteOf = (origin: string): string => origin.replace(/^https?:\/\//, '');
