/** Points in time as loggers and callers write them, as Unix milliseconds. */

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;
/** As most loggers write it, and as it is read. */
const PLAIN_UTC = /^.{10}T[\d:.]{8,}Z$/;
/** From here on a number is of a finer unit: as seconds it would lie beyond the year 5000. */
const UNITS: readonly (readonly [from: number, perMs: number])[] = [
  [1e17, 1e6],
  [1e14, 1e3],
  [1e11, 1],
];
const MOST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export const startOfDay = (instant: number): number => Math.floor(instant / DAY_MS) * DAY_MS;

/** The day that was named last: records of one day come together. */
let named = { day: Number.NaN, name: '' };

/** `20261121` for every instant of that day in UTC. */
export function dayName(instant: number): string {
  const day = startOfDay(instant);
  if (day !== named.day) named = { day, name: new Date(day).toISOString().slice(0, 10).replaceAll('-', '') };
  return named.name;
}

/**
 * Reads ISO 8601 with any offset (none is UTC), also with a blank for the `T` or a comma for the point, and
 * epoch seconds, ms, µs or ns, as a number or in digits. Undefined for anything else and for years beyond 9999.
 */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value === 'number') return ofEpoch(value);
  if (typeof value !== 'string' || value.length > 40) return undefined;
  const text = value.trim();
  if (/^\d{9,19}(?:\.\d+)?$/.test(text)) return ofEpoch(Number(text));
  if (!ISO.test(text) || !isDay(text.slice(0, 10))) return undefined;
  return within(Date.parse(canonical(text)));
}

/** A date alone stands for its whole day: `end` says which end of it is meant. */
export function instantOfQuery(text: string, end: boolean): number | undefined {
  if (/^-?\d+$/.test(text)) return within(Number(text));
  const instant = parseTimestamp(text);
  return instant !== undefined && end && text.trim().length === 10 ? instant + DAY_MS - 1 : instant;
}

const IN_EVERY_MONTH = 28;

/** Not the 30th of February, which `Date.parse` takes for a day in March. */
function isDay(date: string): boolean {
  const inMonth = Number(date.slice(8));
  if (inMonth >= 1 && inMonth <= IN_EVERY_MONTH) return true;
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

function ofEpoch(value: number): number | undefined {
  const perMs = UNITS.find(([from]) => value >= from)?.[1];
  return within(Math.floor(perMs === undefined ? value * 1000 : value / perMs));
}

const within = (instant: number) => (instant >= 0 && instant <= MOST ? instant : undefined);
