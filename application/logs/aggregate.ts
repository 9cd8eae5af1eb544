/** Counts records by level, event, field, correlation or time: from kept counts where they suffice, else by search. */
import { type Filter, isColumns, leavesAt, matches } from '../../domain/logs/filter.js';
import { HOUR_MS } from '../../domain/logs/instant.js';
import type { PlacedRecord } from '../../domain/logs/record.js';
import type { Block, RecordIndex } from './record-index.js';
import { candidates } from './search.js';

export type Grouping =
  | { readonly by: 'level' | 'event' | 'correlation' }
  | { readonly by: 'field'; readonly path: string }
  | { readonly by: 'time'; readonly intervalMs: number };

export interface Bucket {
  readonly key: string;
  readonly count: number;
}

export interface Aggregate {
  /** By count from the highest, then by key. */
  readonly buckets: readonly Bucket[];
  /** Records that passed; one with several values of a field is in several buckets. */
  readonly total: number;
}

export const MISSING = '(missing)';

export interface Aggregation {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** Throws to give up. */
  readonly check?: () => void;
}

interface Tally {
  readonly counts: Map<string, number>;
  total: number;
}

export async function aggregate(index: RecordIndex, asked: Aggregation, limit: number): Promise<Aggregate> {
  const tally: Tally = { counts: new Map(), total: 0 };
  for (const filter of await countKept(index, asked, tally))
    await countFound(index, { ...asked, filter }, tally);
  const buckets = Array.from(tally.counts, ([key, count]) => ({ key, count }));
  buckets.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  return { buckets: buckets.slice(0, limit), total: tally.total };
}

const add = (tally: Tally, keys: readonly string[], count: number) => {
  tally.total += count;
  for (const key of keys) tally.counts.set(key, (tally.counts.get(key) ?? 0) + count);
};

/** Adds the whole hours that kept counts answer for; gives what of the filter is left to be searched. */
async function countKept(
  index: RecordIndex,
  { filter, grouping }: Aggregation,
  tally: Tally,
): Promise<readonly Filter[]> {
  const { from = 0, to, levels, event, producerId, audit } = filter;
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : Math.floor((to + 1) / HOUR_MS) * HOUR_MS;
  if (!isKept(filter, grouping) || end <= first) return [filter];
  const range = {
    from: first,
    to: end,
    ...(producerId && { producerId }),
    ...(audit !== undefined && { audit }),
  };
  const { counts, incomplete } = await index.hours(range);
  const byEvent = grouping.by === 'event' || event !== undefined;
  const searched = new Set(byEvent ? incomplete : []);
  for (const { hour, count, ...each } of counts) {
    if (searched.has(hour) || (levels && !levels.includes(each.level))) continue;
    if (event !== undefined && each.event !== event) continue;
    add(tally, [keyOfCount(grouping, hour, each)], count);
  }
  return [
    ...(from < first ? [{ ...filter, to: first - 1 }] : []),
    ...Array.from(searched, (hour) => ({ ...filter, from: hour, to: hour + HOUR_MS - 1 })),
    ...(to !== undefined && end <= to ? [{ ...filter, from: end }] : []),
  ];
}

const isKept = (filter: Filter, grouping: Grouping) =>
  isColumns({ ...filter, event: undefined }) &&
  (grouping.by === 'level' ||
    grouping.by === 'event' ||
    (grouping.by === 'time' && grouping.intervalMs % HOUR_MS === 0));

function keyOfCount(
  grouping: Grouping,
  hour: number,
  { level, event }: { level: string; event?: string | undefined },
) {
  if (grouping.by === 'time') return timeKey(hour, grouping.intervalMs);
  return grouping.by === 'level' ? level : (event ?? MISSING);
}

async function countFound(index: RecordIndex, { filter, grouping, check }: Aggregation, tally: Tally) {
  const columnsSuffice = isColumns(filter) && (grouping.by === 'level' || grouping.by === 'time');
  for await (const ref of index.blocks(filter, 'desc')) {
    check?.();
    const block = await ref.open();
    for (const at of candidates(block, filter, 'desc')) {
      if (columnsSuffice) {
        add(tally, [keyOfColumns(grouping, block, at)], 1);
        continue;
      }
      const record = block.record(at);
      if (matches(filter, record)) add(tally, keysOf(grouping, record), 1);
    }
  }
}

const keyOfColumns = (grouping: Grouping, block: Block, index: number) =>
  grouping.by === 'time' ? timeKey(block.instant(index), grouping.intervalMs) : block.level(index);

function keysOf(grouping: Grouping, record: PlacedRecord): readonly string[] {
  switch (grouping.by) {
    case 'level':
      return [record.level];
    case 'event':
      return [record.event ?? MISSING];
    case 'correlation':
      return [record.correlationId ?? MISSING];
    case 'time':
      return [timeKey(record.instant, grouping.intervalMs)];
    case 'field': {
      const values = new Set(leavesAt(record.data, grouping.path).map(String));
      return values.size > 0 ? [...values] : [MISSING];
    }
  }
}

const timeKey = (instant: number, intervalMs: number) =>
  new Date(Math.floor(instant / intervalMs) * intervalMs).toISOString();
