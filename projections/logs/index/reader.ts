/** The record index as queries see it: blocks that may hold what is asked for, and the counts of hours. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import type { HourCount, HourRange, RecordIndex } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import { createHeaders } from './block-finder.js';
import { createBlockReader } from './block-reader.js';
import { countsIn } from './hourly-counts.js';
import { HOURS, KEEPINGS } from './partitions.js';
import type { HourRow, HourRowCount, KeepingRow } from './rows.js';

/** Opened counts of hours, in bytes. */
const HOURS_KEPT = 8 * 1024 * 1024;
const COUNT_BYTES = 100;

export interface ReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the build that is served. */
  readonly build: () => string | undefined;
  /** Changes with the rows, as far as this node knows. */
  readonly version: () => unknown;
}

export interface CachingRecordIndex extends RecordIndex {
  readonly caches: readonly Cache[];
}

export function createRecordIndex({ db, vault, build, version }: ReaderPorts): CachingRecordIndex {
  const opened = createBlockReader(db, vault);
  const headers = createHeaders({ db, vault, opened, version });
  const counted = new LRUCache<string, readonly HourRowCount[]>({ maxSize: HOURS_KEPT });

  async function countsOf(name: string, row: HourRow): Promise<readonly HourRowCount[]> {
    const key = `${name} ${row._id} ${row._at}`;
    const known = counted.get(key);
    if (known) return known;
    const counts = (await countsIn(vault, row)) ?? [];
    const size = (sum: number, { level = '', event = '' }: HourRowCount) =>
      sum + 2 * (level.length + event.length) + COUNT_BYTES;
    counted.set(key, counts, { size: counts.reduce(size, COUNT_BYTES) });
    return counts;
  }

  return {
    caches: [
      ...opened.caches,
      headers.cache,
      { name: 'logs.hours', limitBytes: HOURS_KEPT, bytes: () => counted.calculatedSize },
    ],

    async *blocks(filter, order, checkpoint, among) {
      const name = build();
      if (!name) return;
      for await (const located of headers.blocks(name, filter, order, checkpoint, among)) {
        const { from, to, count, size, over } = located.header;
        yield {
          from,
          to,
          count: count - (over?.count ?? 0),
          size,
          read: (look, needs) => opened.read(located, look, needs),
        };
      }
    },

    async hours({ from, to, producerId, audit }: HourRange, checkpoint: Checkpoint) {
      const name = build();
      const counts: HourCount[] = [];
      const withoutEvents = new Set<number>();
      const withoutLevels = new Set<number>();
      const asked = {
        hour: { $gte: from, $lt: to },
        ...(producerId !== undefined && { producerId }),
        ...(audit !== undefined && { audit }),
      };
      for await (const row of name ? db.collection<HourRow>(`${name}.${HOURS}`).find(asked) : []) {
        await checkpoint();
        const { hour } = row;
        if (row.detail !== 'events') withoutEvents.add(hour);
        if (row.detail === 'usual levels') withoutLevels.add(hour);
        for (const { level, event, count } of await countsOf(name ?? '', row))
          counts.push({ hour, level, event, count });
      }
      return { counts, withoutEvents: [...withoutEvents], withoutLevels: [...withoutLevels] };
    },

    async lastReceived() {
      const name = build();
      if (!name) return undefined;
      const keepings = db.collection<KeepingRow>(`${name}.${KEEPINGS}`);
      let latest: number | undefined;
      for await (const { last } of keepings.find({}, { projection: { last: 1 } }))
        if (last !== undefined) latest = Math.max(latest ?? 0, last);
      return latest;
    },
  };
}
