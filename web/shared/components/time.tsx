/** Times in the reader's language and zone. */
import { language } from '../language.js';

const clockFormat = new Intl.DateTimeFormat(language, { timeStyle: 'short' });
const utcClockFormat = new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: 'UTC' });
const secondsFormat = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
const preciseFormat = new Intl.DateTimeFormat(language, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});
const dateTimeFormat = new Intl.DateTimeFormat(language, { dateStyle: 'short', timeStyle: 'medium' });
const fullFormat = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'medium' });
const dayFormat = new Intl.DateTimeFormat(language, { weekday: 'long', day: 'numeric', month: 'long' });
const dayOfYearFormat = new Intl.DateTimeFormat(language, { dateStyle: 'long' });
const relativeFormat = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });

/** `09:05` or `9:05 AM`. */
export const clockTime = (ms: number): string => clockFormat.format(ms);

/** The same in UTC, for what is counted by hours of UTC. */
export const utcClockTime = (ms: number): string => utcClockFormat.format(ms);

/** `09:05:12` or `9:05:12 AM`. */
export const clockTimeWithSeconds = (ms: number): string => secondsFormat.format(ms);

/** `09:05:12.345` or `09:05:12.345 AM`, of the same length for each time. */
export const preciseTime = (ms: number): string => preciseFormat.format(ms);

/** `27/11/2026, 09:05:12`. */
export const dateTime = (ms: number): string => dateTimeFormat.format(ms);

/** `Friday, 27 November 2026 at 09:05:12`. */
export const fullTime = (ms: number): string => fullFormat.format(ms);

/** `27 November 2026`. */
export const longDate = (ms: number): string => dayOfYearFormat.format(ms);

/** Days between two times in the local zone; 0 on the same day. */
export function daysBetween(from: number, to: number): number {
  const midnight = (ms: number) => new Date(ms).setHours(0, 0, 0, 0);
  return Math.round((midnight(to) - midnight(from)) / 86_400_000);
}

/** `Today`, `Yesterday`, `Monday, 23 November`, and with the year if it is another one. */
export function dayTitle(ms: number, now = Date.now()): string {
  const days = daysBetween(ms, now);
  if (days === 0 || days === 1) {
    const text = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-days, 'day');
    return text[0]?.toUpperCase() + text.slice(1);
  }
  const isThisYear = new Date(ms).getFullYear() === new Date(now).getFullYear();
  return (isThisYear ? dayFormat : dayOfYearFormat).format(ms);
}

const UNITS = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `3 min. ago`, `in 2 hr.`, `now`. */
export function relativeTime(ms: number, now = Date.now()): string {
  const distance = ms - now;
  const [unit, size] = UNITS.find(([, each]) => Math.abs(distance) >= each) ?? (['second', Infinity] as const);
  return relativeFormat.format(Math.trunc(distance / size), unit);
}

/** A point in time: shown as clock time unless given a text, with the full time as tooltip. */
export const Time = ({ at, children = clockTime(at) }: { at: number; children?: string }) => (
  <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
    {children}
  </time>
);
