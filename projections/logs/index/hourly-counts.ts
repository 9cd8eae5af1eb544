/** Counts by level and event, kept for every hour: what they answer need not be counted. */
import type { Vault } from '../../../application/ports/index.js';
import { isUsualLevel } from '../../../domain/logs/levels.js';
import type { LogRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { longOf } from '../../kernel/index.js';
import { openPacked, sealPacked } from './compress-and-seal.js';
import type { Detail, HourRow, HourRowCount } from './rows.js';

/** More kinds than this, or so many characters of them, are told apart less: a row is written again and again. */
const MOST_KINDS = 200;
const MOST_CHARACTERS = 16 * 1024;

export interface HourKey {
  readonly hour: number;
  readonly producerId: string;
  readonly audit: boolean;
  readonly received: string;
}

export const hourId = ({ hour, producerId, audit, received }: HourKey): string =>
  `${hour.toString(36).padStart(10, '0')}-${received}-${audit ? 'a' : 'd'}-${producerId}`;

const subjectOf = ({ producerId, audit, received }: HourKey) => bucketSubject({ producerId, audit, day: received });

/** The counts of one hour on their way: events up to `at` are in them. */
export interface HourTally {
  add(position: bigint, records: readonly LogRecord[]): void;
  /** Undefined when the key is destroyed. */
  row(): Promise<HourRow | undefined>;
}

/** Counted up in place: this is done for every record. */
type Counted = { -readonly [Member in keyof HourRowCount]: HourRowCount[Member] };

/** Undefined when the key is destroyed. */
export async function countsIn(vault: Vault, row: HourRow): Promise<readonly HourRowCount[] | undefined> {
  const text = await openPacked(vault, subjectOf(row), row.counts);
  return text && JSON.parse(text.toString());
}

export async function resumeHour(vault: Vault, key: HourKey, row: HourRow | null): Promise<HourTally> {
  const counted = (row && (await countsIn(vault, row))) ?? [];
  const counts = new Map<string, Counted>();
  let at = row?._at.toBigInt() ?? -1n;
  let total = row?.total ?? 0;
  let detail: Detail = row?.detail ?? 'events';
  let characters = 0;

  const count = (level: string | undefined, event: string | undefined, many: number) => {
    const told = detail === 'usual levels' && level !== undefined && !isUsualLevel(level) ? undefined : level;
    const named = detail === 'events' ? event : undefined;
    const key = `${told ?? ''}\n${named ?? ''}`;
    const known = counts.get(key);
    if (known) {
      known.count += many;
      return;
    }
    characters += key.length;
    const kind = { ...(told !== undefined && { level: told }), ...(named !== undefined && { event: named }) };
    counts.set(key, { ...kind, count: many });
  };

  const coarsen = () => {
    detail = detail === 'events' ? 'levels' : 'usual levels';
    const before = [...counts.values()];
    counts.clear();
    characters = 0;
    for (const each of before) count(each.level, each.event, each.count);
  };

  for (const each of counted) count(each.level, each.event, each.count);
  return {
    add(position, records) {
      if (position <= at) return;
      at = position;
      total += records.length;
      for (const { level, event } of records) {
        count(level, event, 1);
        while (detail !== 'usual levels' && (counts.size > MOST_KINDS || characters > MOST_CHARACTERS)) coarsen();
      }
    },

    async row() {
      const sealed = await sealPacked(vault, subjectOf(key), JSON.stringify([...counts.values()]));
      return sealed && { _id: hourId(key), _at: longOf(at), ...key, total, detail, counts: sealed };
    },
  };
}

/** What a build says of an hour, the same for every build of the same events. */
export async function readableHour(vault: Vault, row: HourRow): Promise<object> {
  return { ...row, counts: await countsIn(vault, row) };
}
