/** The record index in memory: real blocks, without filters, and counts per hour. */
import type { Block, BlockRef, HourCount, RecordIndex } from '../../application/logs/record-index.js';
import type { JsonObject } from '../../domain/logs/json.js';
import { isUsualLevel } from '../../domain/logs/levels.js';
import { type IdentifiedRecord, parseRecord } from '../../domain/logs/record.js';
import { recordId } from '../../domain/logs/record-id.js';
import { HOUR_MS } from '../../domain/logs/timestamp.js';
import { buildBlock, decodeBlock } from '../../projections/logs/index/block.js';

/** Records of one producer and one retention, in order of receipt. */
export interface Batch {
  readonly producerId: string;
  readonly audit: boolean;
  /** Its records are missing from the counts. */
  readonly scattered?: boolean;
  readonly records: readonly JsonObject[];
}

export interface MemoryIndex extends RecordIndex {
  /** All records, in log order. */
  readonly all: readonly IdentifiedRecord[];
  /** Number of opened blocks. */
  opened(): number;
}

const hourOf = (instant: number) => Math.floor(instant / HOUR_MS) * HOUR_MS;

/** Every batch is a block. Counts of odd hours omit event names, those of every third hour omit rare levels. */
export function memoryIndex(batches: readonly Batch[], receivedAt = 1_800_000_000_000): MemoryIndex {
  let opened = 0;
  const all: IdentifiedRecord[] = [];
  const counted: IdentifiedRecord[] = [];
  const blocks = batches.map(({ producerId, audit, scattered = false, records }, batch) => {
    const builder = buildBlock(producerId);
    const position = BigInt(batch + 1) * 10n;
    for (const [place, data] of records.entries()) {
      const record = parseRecord(JSON.stringify({ ...data, audit }), producerId, receivedAt);
      builder.add(record, record.json, position, place);
      const placed = { ...record, id: recordId(position, place) };
      all.push(placed);
      if (!scattered) counted.push(placed);
    }
    const { from, to, size } = builder.summary();
    const open = decodeBlock([builder.text()]);
    const entry = (index: number) => `{"id":"${open.id(index)}"}`;
    const block: Block = { ...open, producerId, audit, entry };
    const read: BlockRef['read'] = async (look) => {
      opened++;
      return look(block);
    };
    return { ref: { from, to, size, read } satisfies BlockRef, scattered };
  });

  return {
    all,
    opened: () => opened,
    async *blocks(_filter, order, _pace, coverage) {
      const some = blocks.filter(({ scattered }) => !coverage || scattered === (coverage === 'not counted'));
      const refs = some.map(({ ref }) => ref);
      yield* refs.sort((a, b) => (order === 'desc' ? b.to - a.to : a.from - b.from));
    },
    async hours({ from, to, producerId, audit }) {
      const counts: HourCount[] = [];
      const [withoutEvents, withoutLevels] = [new Set<number>(), new Set<number>()];
      for (const each of counted) {
        const hour = hourOf(each.instant);
        if (hour < from || hour >= to || (producerId ?? each.producerId) !== each.producerId) continue;
        if ((audit ?? each.audit) !== each.audit) continue;
        const [nth, usual] = [hour / HOUR_MS, isUsualLevel(each.level)];
        if (nth % 2 === 1) withoutEvents.add(hour);
        if (nth % 3 === 0) withoutLevels.add(hour);
        counts.push({
          hour,
          producerId: each.producerId,
          level: nth % 3 === 0 && !usual ? undefined : each.level,
          event: nth % 2 === 1 ? undefined : each.event,
          count: 1,
        });
      }
      return { counts, withoutEvents: [...withoutEvents], withoutLevels: [...withoutLevels] };
    },
    lastReceived: async () => (all.length > 0 ? receivedAt : undefined),
  };
}
