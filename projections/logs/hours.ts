/** Counts by level and event, kept for every hour: what they answer need not be counted. */
import { HOUR_MS } from '../../domain/logs/instant.js';
import type { LogRecord } from '../../domain/logs/record.js';
import { longOf } from '../projection.js';
import type { HourRow } from './rows.js';

/** More kinds of events than this (a logger without event names) are counted by level only. */
const MOST_KINDS = 200;
const LONGEST_EVENT = 200;

export interface HourKey {
  readonly hour: number;
  readonly producerId: string;
  readonly audit: boolean;
  readonly received: string;
}

export const hourOf = (instant: number): number => Math.floor(instant / HOUR_MS) * HOUR_MS;

export const hourId = ({ hour, producerId, audit, received }: HourKey): string =>
  `${hour.toString(36).padStart(10, '0')}-${received}-${audit ? 'a' : 'd'}-${producerId}`;

/** The counts of one hour on their way: events up to `at` are in them. */
export interface HourTally {
  add(position: bigint, receivedAt: number, records: readonly LogRecord[]): void;
  row(): HourRow;
}

export function resumeHour(key: HourKey, row: HourRow | null): HourTally {
  let at = row?._at.toBigInt() ?? -1n;
  let last = row?.last ?? 0;
  let byLevel = row?.byLevel ?? false;
  let counts = new Map(row?.counts.map((each) => [kind(each.level, each.event), { ...each }]));

  const count = (level: string, event: string | undefined, many: number) => {
    const known = counts.get(kind(level, event));
    if (known) known.count += many;
    else counts.set(kind(level, event), { level, ...(event !== undefined && { event }), count: many });
  };

  return {
    add(position, receivedAt, records) {
      if (position <= at) return;
      at = position;
      last = Math.max(last, receivedAt);
      for (const { level, event } of records) {
        count(level, byLevel ? undefined : event, 1);
        if (byLevel || (counts.size <= MOST_KINDS && (event?.length ?? 0) <= LONGEST_EVENT)) continue;
        byLevel = true;
        const before = counts;
        counts = new Map();
        for (const each of before.values()) count(each.level, undefined, each.count);
      }
    },
    row: () => ({
      _id: hourId(key),
      _at: longOf(at),
      ...key,
      last,
      counts: [...counts.values()],
      ...(byLevel && { byLevel: true as const }),
    }),
  };
}

const kind = (level: string, event: string | undefined) => `${level}\n${event ?? ''}`;
