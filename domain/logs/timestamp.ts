/** Parses timestamps of loggers and API callers, and the widths of time histograms, into milliseconds. */

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;
/** The usual format, which `Date.parse` reads unchanged. */
const PLAIN_UTC = /^.{10}T[\d:.]{8,}Z$/;
/** Smallest number taken for each finer unit: in seconds it would be after the year 5000. */
const UNITS: readonly (readonly [from: number, perMs: number])[] = [
  [1e17, 1e6],
  [1e14, 1e3],
  [1e11, 1],
];
export const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const startOfDay = (instant: number): number => Math.floor(instant / DAY_MS) * DAY_MS;

/** Cache of the last day: consecutive records mostly share it. */
let lastDay = { day: Number.NaN, name: '' };

/** UTC day of an instant, `20261121`. */
export function dayName(instant: number): string {
  const day = startOfDay(instant);
  if (day !== lastDay.day) lastDay = { day, name: new Date(day).toISOString().slice(0, 10).replaceAll('-', '') };
  return lastDay.name;
}

/**
 * Reads ISO 8601 with any offset (default UTC), also with a space for the `T` or a comma for the decimal point, and
 * epoch seconds, ms, µs or ns, as a number or digits. Undefined for anything else and for years after 9999.
 */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return parseEpoch(value);
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const text = value.trim();
  if (/^\d{9,19}(?:\.\d+)?$/.test(text)) return parseEpoch(Number(text));
  if (!ISO.test(text) || !isCalendarDay(text.slice(0, 10))) return undefined;
  return inRange(Date.parse(canonical(text)));
}

/** Parses a query's time bound; a date without time means the start or, with `end`, the end of that day. */
export function parseQueryTime(text: string, end: boolean): number | undefined {
  if (/^-?\d+$/.test(text)) return inRange(Number(text));
  const instant = parseTimestamp(text);
  return instant !== undefined && end && text.trim().length === 10 ? instant + DAY_MS - 1 : instant;
}

const SHORTEST_MONTH = 28;

/** Rejects dates like February 30, which `Date.parse` would turn into a day in March. */
function isCalendarDay(date: string): boolean {
  const dayOfMonth = Number(date.slice(8));
  if (dayOfMonth >= 1 && dayOfMonth <= SHORTEST_MONTH) return true;
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

function canonical(text: string): string {
  if (text.length === 10 || PLAIN_UTC.test(text)) return text;
  const iso = text.replace(' ', 'T').replace(',', '.').toUpperCase();
  const [, clock = '', offset] = /^(.*?T.*?)(Z|[+-]\d\d(?::?\d\d)?)?$/.exec(iso) ?? [];
  if (offset === undefined || offset === 'Z') return `${clock}Z`;
  const digits = offset.slice(1).replace(':', '').padEnd(4, '0');
  return `${clock}${offset.charAt(0)}${digits.slice(0, 2)}:${digits.slice(2)}`;
}

function parseEpoch(value: number): number | undefined {
  const perMs = UNITS.find(([from]) => value >= from)?.[1];
  return inRange(Math.floor(perMs === undefined ? value * 1000 : value / perMs));
}

const inRange = (instant: number) => (instant >= 0 && instant <= MAX_INSTANT ? instant : undefined);

const INTERVAL_UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Allowed intervals, for error messages. */
export const INTERVAL_FORMAT = 'minutes, hours or a day: 1m to 1d';

/** Milliseconds of `5m`, `2h` or `1d`; undefined for anything else, and for more than a day. */
export function parseInterval(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (INTERVAL_UNITS[unit] ?? Number.NaN);
  return ms > 0 && ms <= INTERVAL_UNITS.d! ? ms : undefined;
}
