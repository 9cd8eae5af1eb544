/** Names of the collections a build of the record index is cut into: one a UTC day of the records' instants. */
import { DAY_MS, dayName, startOfDay } from '../../domain/logs/instant.js';

/** Instants further than this from their receipt share one collection: nobody shall make thousands of them. */
const FAR_MS = 45 * DAY_MS;
const FAR = 'far';

export const HOURS = 'hours';
export const SOURCES = 'sources';
export const REQUESTS = 'requests';
export const KEEPINGS = 'keepings';

/** `d20261121`, or `a20261121` for audit records, which are kept longer. */
export function partOf(instant: number, receivedAt: number, audit: boolean): string {
  const far = Math.abs(startOfDay(instant) - startOfDay(receivedAt)) > FAR_MS;
  return (audit ? 'a' : 'd') + (far ? FAR : dayName(instant));
}

export interface Part {
  readonly name: string;
  readonly audit: boolean;
  /** Unix ms, inclusive: what instants can be in it. */
  readonly from: number;
  readonly to: number;
}

/** Undefined for collections of another kind. */
export function readPart(name: string): Part | undefined {
  const [, kind, year, month, day] = /^([ad])(?:far|(\d{4})(\d\d)(\d\d))$/.exec(name) ?? [];
  if (!kind) return undefined;
  const audit = kind === 'a';
  if (!year) return { name, audit, from: 0, to: Number.POSITIVE_INFINITY };
  const from = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return { name, audit, from, to: from + DAY_MS - 1 };
}
