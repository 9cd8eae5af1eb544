/** The record index for queries: finds blocks, reads them, and serves hourly counts. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import type { HourCount, HourRange, RecordIndex } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import { assertBuildExists } from '../../kernel/index.js';
import { createBlockFinder } from './block-finder.js';
import { createBlockReader } from './block-reader.js';
import { decryptCounts } from './hourly-counts.js';
import { type HourRow, type HourRowCount, rowsIn } from './rows.js';

/** Bytes of decrypted hourly counts cached. */
const HOUR_CACHE_BYTES = 8 * 1024 * 1024;
const COUNT_BYTES = 100;

export interface ReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  readonly build: () => string | undefined;
  readonly version: () => unknown;
}

/** Reads throw `UnavailableError` if the build has been dropped. */
export function createRecordIndex({
  db,
  vault,
  build,
  version,
}: ReaderPorts): RecordIndex & { readonly caches: readonly Cache[] } {
  const blockReader = createBlockReader(db, vault);
  const blockFinder = createBlockFinder(db, vault, blockReader, version);
  const hourCache = new LRUCache<string, readonly HourRowCount[]>({ maxSize: HOUR_CACHE_BYTES });

  async function countsOf(name: string, row: HourRow): Promise<readonly HourRowCount[]> {
    const key = `${name} ${row._id} ${row._at}`;
    const cached = hourCache.get(key);
    if (cached) return cached;
    const counts = (await decryptCounts(vault, row)) ?? [];
    const size = (sum: number, { level = '', event = '' }: HourRowCount) =>
      sum + 2 * (level.length + event.length) + COUNT_BYTES;
    hourCache.set(key, counts, { size: counts.reduce(size, COUNT_BYTES) });
    return counts;
  }

  return {
    caches: [
      ...blockReader.caches,
      blockFinder.cache,
      { name: 'logs.hours', limitBytes: HOUR_CACHE_BYTES, bytes: () => hourCache.calculatedSize },
    ],

    async *blocks(filter, order, checkpoint, coverage) {
      const name = build();
      if (!name) return;
      for await (const ref of blockFinder.blocks(name, filter, order, checkpoint, coverage)) {
        const { header, chunks = header.chunks } = ref;
        const { from, to } = header;
        const size = (header.size * chunks.length) / header.chunks.length;
        yield { from, to, size, read: (look, needs) => blockReader.read(ref, look, needs) };
      }
    },

    async hours({ from, to, producerId, audit }: HourRange, checkpoint: Checkpoint) {
      const name = build();
      const counts: HourCount[] = [];
      const withoutEvents = new Set<number>();
      const withoutLevels = new Set<number>();
      const criteria = {
        hour: { $gte: from, $lt: to },
        ...(producerId !== undefined && { producerId }),
        ...(audit !== undefined && { audit }),
      };
      for await (const row of name ? rowsIn(db, name, 'hours').find(criteria) : []) {
        await checkpoint();
        const { hour } = row;
        if (row.detail !== 'events') withoutEvents.add(hour);
        if (row.detail === 'usual levels') withoutLevels.add(hour);
        for (const { level, event, count } of await countsOf(name ?? '', row))
          counts.push({ hour, producerId: row.producerId, level, event, count });
      }
      if (name) await assertBuildExists(db, name);
      return { counts, withoutEvents: [...withoutEvents], withoutLevels: [...withoutLevels] };
    },

    async lastReceived() {
      const name = build();
      if (!name) return undefined;
      const buckets = rowsIn(db, name, 'buckets');
      let latest: number | undefined;
      for await (const { last } of buckets.find({}, { projection: { last: 1 } }))
        if (last !== undefined) latest = Math.max(latest ?? 0, last);
      if (latest === undefined) await assertBuildExists(db, name);
      return latest;
    },
  };
}
