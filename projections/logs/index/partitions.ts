/** Partitions of a build of the record index: one collection per UTC day of the records' instants. */
import { DAY_MS, dayName, HOUR_MS, startOfDay } from '../../../domain/logs/timestamp.js';

/** Maximum distance between a record's day and its receipt for which hours are counted. */
const MAX_DISTANCE_MS = 45 * DAY_MS;
/** Maximum counted hours per event, because a sender could put every record into another one. */
const MAX_HOURS = 240;
const SCATTERED = 'scattered';
export const SCATTERED_PARTS = [`d${SCATTERED}`, `a${SCATTERED}`];

export const HOURS = 'hours';
export const SOURCES = 'sources';
export const REQUESTS = 'requests';
export const BUCKETS = 'keepings';

export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS) * HOUR_MS;

/**
 * Hours of an event's records that get a row of counts: those near the receipt, or the ones with the most records if
 * there are too many. All other records go to one scattered partition, which every search reads.
 */
export function countedHours(instants: Iterable<number>, receivedAt: number): ReadonlySet<number> {
  const records = new Map<number, number>();
  for (const instant of instants) {
    if (Math.abs(startOfDay(instant) - startOfDay(receivedAt)) > MAX_DISTANCE_MS) continue;
    const hour = hourOf(instant);
    records.set(hour, (records.get(hour) ?? 0) + 1);
  }
  if (records.size <= MAX_HOURS) return new Set(records.keys());
  const largest = [...records].sort(([a, ofA], [b, ofB]) => ofB - ofA || b - a);
  return new Set(largest.slice(0, MAX_HOURS).map(([hour]) => hour));
}

/** `d20261121`, `a20261121` for audit records (retained longer), or `dscattered` if its hour is not counted. */
export function partitionOf(instant: number, hoursWithCounts: ReadonlySet<number>, audit: boolean): string {
  return (audit ? 'a' : 'd') + (hoursWithCounts.has(hourOf(instant)) ? dayName(instant) : SCATTERED);
}

export const sectionsCollection = (part: string): string => part + SECTIONS;
export const isSectionsCollection = (name: string): boolean => name.endsWith(SECTIONS);
const SECTIONS = '.sections';

export interface Partition {
  readonly name: string;
  readonly audit: boolean;
  /** Its records are of any day, and of hours that are not counted. */
  readonly outOfOrder: boolean;
  /** Range of instants, Unix ms, inclusive. */
  readonly from: number;
  readonly to: number;
}

export function parsePartition(name: string): Partition | undefined {
  const [, kind, year, month, day] = /^([ad])(?:scattered|(\d{4})(\d\d)(\d\d))$/.exec(name) ?? [];
  if (!kind) return undefined;
  const audit = kind === 'a';
  if (!year) return { name, audit, outOfOrder: true, from: 0, to: Number.POSITIVE_INFINITY };
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return { name, audit, outOfOrder: false, from, to: from + DAY_MS - 1 };
}
