/** Names of the collections a build of the record index is cut into: one a UTC day of the records' instants. */
import { DAY_MS, dayName, HOUR_MS, startOfDay } from '../../../domain/logs/timestamp.js';

/** Of records further than this from their receipt hours are not counted. */
const FAR_MS = 45 * DAY_MS;
/** And not of more hours of an event than these: a sender has a right to as many as it has records. */
const MOST_HOURS = 240;
const SCATTERED = 'scattered';
/** Whose records are in no count. */
export const SCATTERED_PARTS = [`d${SCATTERED}`, `a${SCATTERED}`];

export const HOURS = 'hours';
export const SOURCES = 'sources';
export const REQUESTS = 'requests';
export const KEEPINGS = 'keepings';

export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS) * HOUR_MS;

/**
 * The hours of an event's records that are counted, each in a row of its own: all that are near its receipt or, where
 * these are many, those with the most records. The others lie scattered, in one collection: it is always searched.
 */
export function countedHours(instants: Iterable<number>, receivedAt: number): ReadonlySet<number> {
  const records = new Map<number, number>();
  for (const instant of instants) {
    if (Math.abs(startOfDay(instant) - startOfDay(receivedAt)) > FAR_MS) continue;
    const hour = hourOf(instant);
    records.set(hour, (records.get(hour) ?? 0) + 1);
  }
  if (records.size <= MOST_HOURS) return new Set(records.keys());
  const fullest = [...records].sort(([a, ofA], [b, ofB]) => ofB - ofA || b - a);
  return new Set(fullest.slice(0, MOST_HOURS).map(([hour]) => hour));
}

/** `d20261121`, or `a20261121` for audit records, which are kept longer; `dscattered` where its hour is not counted. */
export function partOf(instant: number, counted: ReadonlySet<number>, audit: boolean): string {
  return (audit ? 'a' : 'd') + (counted.has(hourOf(instant)) ? dayName(instant) : SCATTERED);
}

/** The collection that holds what the blocks of a part are made of. */
export const sectionsIn = (part: string): string => part + SECTIONS;
export const isSections = (name: string): boolean => name.endsWith(SECTIONS);
const SECTIONS = '.sections';

export interface Partition {
  readonly name: string;
  readonly audit: boolean;
  /** Its records are of any days, and of hours that are not counted. */
  readonly outOfOrder: boolean;
  /** Unix ms, inclusive: what instants can be in it. */
  readonly from: number;
  readonly to: number;
}

/** Undefined for collections of another kind. */
export function readPart(name: string): Partition | undefined {
  const [, kind, year, month, day] = /^([ad])(?:scattered|(\d{4})(\d\d)(\d\d))$/.exec(name) ?? [];
  if (!kind) return undefined;
  const audit = kind === 'a';
  if (!year) return { name, audit, outOfOrder: true, from: 0, to: Number.POSITIVE_INFINITY };
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return { name, audit, outOfOrder: false, from, to: from + DAY_MS - 1 };
}
