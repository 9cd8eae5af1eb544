/** Stored counts per hour by level and event, which aggregations use instead of reading records. */
import type { Vault } from '../../../application/ports/index.js';
import { isUsualLevel } from '../../../domain/logs/levels.js';
import type { LogRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { longOf } from '../../kernel/index.js';
import { compressAndSeal, decryptAndInflate } from './compress-and-seal.js';
import type { Detail, HourRow, HourRowCount } from './rows.js';

/** Limits of distinct kinds per hour; beyond them detail is reduced, because the row is rewritten often. */
const MAX_KINDS = 200;
const MAX_CHARACTERS = 16 * 1024;

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
