/** Stored counts per hour by level and event, which aggregations use instead of reading records. */
import type { Vault } from '../../../application/ports/index.js';
import { isUsualLevel } from '../../../domain/logs/levels.js';
import type { LogRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { DAY_MS, HOUR_MS, startOfDay } from '../../../domain/logs/timestamp.js';
import { longOf } from '../../kernel/index.js';
import { compressAndSeal, decryptAndInflate } from './compress-and-seal.js';
import type { Detail, HourRow, HourRowCount } from './rows.js';

/** Maximum distance between a record's day and its receipt for which hours are counted. */
const MAX_DISTANCE_MS = 45 * DAY_MS;
/** Maximum counted hours per event, because a sender could put every record into another one. */
const MAX_HOURS = 240;
/** Limits of distinct kinds per hour; beyond them detail is reduced, because the row is rewritten often. */
const MAX_KINDS = 200;
const MAX_CHARACTERS = 16 * 1024;

export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS) * HOUR_MS;

/**
 * Hours of an event's records that get a row of counts: those near the receipt, or the ones with the most records if
 * there are too many. All other records are scattered.
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

export interface HourKey {
  readonly hour: number;
  readonly producerId: string;
  readonly audit: boolean;
  readonly received: string;
}

export const hourId = ({ hour, producerId, audit, received }: HourKey): string =>
  `${hour.toString(36).padStart(10, '0')}-${received}-${audit ? 'a' : 'd'}-${producerId}`;

const subjectOf = ({ producerId, audit, received }: HourKey) => bucketSubject({ producerId, audit, day: received });

export type HourTally = Awaited<ReturnType<typeof resumeHour>>;

/** Mutable, because it is updated for every record. */
type MutableCount = { -readonly [Member in keyof HourRowCount]: HourRowCount[Member] };

export async function decryptCounts(vault: Vault, row: HourRow): Promise<readonly HourRowCount[] | undefined> {
  const text = await decryptAndInflate(vault, subjectOf(row), row.counts);
  return text && JSON.parse(text.toString());
}

/** Accumulates one hour's counts; ignores events up to its stored position. */
export async function resumeHour(vault: Vault, key: HourKey, row: HourRow | null) {
  const storedCounts = (row && (await decryptCounts(vault, row))) ?? [];
  const counts = new Map<string, MutableCount>();
  let at = row?._at.toBigInt() ?? -1n;
  let total = row?.total ?? 0;
  let detail: Detail = row?.detail ?? 'events';
  let characters = 0;

  const count = (level: string | undefined, event: string | undefined, amount: number) => {
    const countedLevel = detail === 'usual levels' && level !== undefined && !isUsualLevel(level) ? undefined : level;
    const countedEvent = detail === 'events' ? event : undefined;
    const key = `${countedLevel ?? ''}\n${countedEvent ?? ''}`;
    const existing = counts.get(key);
    if (existing) {
      existing.count += amount;
      return;
    }
    characters += key.length;
    const kind = {
      ...(countedLevel !== undefined && { level: countedLevel }),
      ...(countedEvent !== undefined && { event: countedEvent }),
    };
    counts.set(key, { ...kind, count: amount });
  };

  const reduceDetail = () => {
    detail = detail === 'events' ? 'levels' : 'usual levels';
    const previous = [...counts.values()];
    counts.clear();
    characters = 0;
    for (const each of previous) count(each.level, each.event, each.count);
  };

  for (const each of storedCounts) count(each.level, each.event, each.count);
  return {
    add(position: bigint, records: readonly LogRecord[]) {
      if (position <= at) return;
      at = position;
      total += records.length;
      for (const { level, event } of records) {
        count(level, event, 1);
        while (detail !== 'usual levels' && (counts.size > MAX_KINDS || characters > MAX_CHARACTERS)) reduceDetail();
      }
    },

    async row(): Promise<HourRow | undefined> {
      const sealed = await compressAndSeal(vault, subjectOf(key), JSON.stringify([...counts.values()]));
      return sealed && { _id: hourId(key), _at: longOf(at), ...key, total, detail, counts: sealed };
    },
  };
}

/** Canonical content of an hour row, equal for every build of the same events. */
export async function readableHour(vault: Vault, row: HourRow): Promise<object> {
  return { ...row, counts: await decryptCounts(vault, row) };
}
