/** Counts records by level, event, producer, field, correlation id or time, from stored hourly counts where they suffice. */
import { type Exclusions, type Filter, isRecordFree, leavesAt } from '../../../domain/logs/filter.js';
import { isUsualLevel } from '../../../domain/logs/levels.js';
import type { IdentifiedRecord } from '../../../domain/logs/record.js';
import { HOUR_MS } from '../../../domain/logs/timestamp.js';
import type { Block, BlockRef, Column, Coverage, HourCount, RecordIndex, Values } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';
import { forEachMatch, needsOf, relaxFilter, type Search } from './search-blocks.js';
import { type Bucket, createTopKCounter, type KeyBudget, type Tally } from './top-k-counter.js';

export type Grouping = Column | { readonly by: 'producer' } | { readonly by: 'time'; readonly intervalMs: number };

export interface Counts {
  readonly buckets: readonly Bucket[];
  /** Records that match the filter; one with several values of a field counts in several buckets. */
  readonly total: number;
}

export const MISSING = '(missing)';

export interface Aggregation {
  readonly filter: Filter;
  readonly grouping: Grouping;
  readonly checkpoint: Checkpoint;
  readonly budget: KeyBudget;
}

/** Throws what the checkpoint throws, and `TooManyKeys`. */
export async function aggregate(index: RecordIndex, query: Aggregation, limit: number): Promise<Counts> {
  const tally = createTopKCounter(query.budget);
  try {
    for (const remainder of await countFromHours(index, query, tally))
      await countBySearch(index, query, remainder, tally);
    return { buckets: await tally.largest(limit, query.checkpoint), total: tally.total() };
  } finally {
    tally.release();
  }
}

interface SearchRemainder {
  readonly filter: Filter;
  readonly coverage?: Coverage;
}

/** Adds the full hours that hourly counts cover; returns the parts that must be searched. */
async function countFromHours(
  index: RecordIndex,
  { filter, grouping, checkpoint }: Aggregation,
  tally: Tally,
): Promise<readonly SearchRemainder[]> {
  const { from = 0, to, levels, event, producerId, audit, not } = filter;
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : Math.floor((to + 1) / HOUR_MS) * HOUR_MS;
  if (!isCoveredByHours(filter, grouping) || end <= first) return [{ filter }];
  const range = { from: first, to: end, producerId, audit };
  const { counts, withoutEvents, withoutLevels } = await index.hours(range, checkpoint);
  const searched = new Set([
    ...(grouping.by === 'event' || event !== undefined || not?.events.length ? withoutEvents : []),
    ...(needsUnusualLevels(filter, grouping) ? withoutLevels : []),
  ]);
  for (const each of counts) {
    if (searched.has(each.hour)) continue;
    if (levels && (each.level === undefined || !levels.includes(each.level))) continue;
    if (event !== undefined && each.event !== event) continue;
    if (not && isExcluded(not, each)) continue;
    tally.add([keyOfCount(grouping, each)], each.count);
  }
  return [
    ...(from < first ? [{ filter: { ...filter, to: first - 1 } }] : []),
    ...Array.from(searched, (hour) => {
      const hourFilter = { ...filter, from: hour, to: hour + HOUR_MS - 1 };
      return { filter: hourFilter, coverage: 'counted' as const };
    }),
    { filter: { ...filter, from: first, ...(to !== undefined && { to: end - 1 }) }, coverage: 'not counted' },
    ...(to !== undefined && end <= to ? [{ filter: { ...filter, from: end } }] : []),
  ];
}

const isExcluded = ({ levels, events, producerIds }: Exclusions, { level, event, producerId }: HourCount) =>
  (level !== undefined && levels.includes(level)) ||
  (event !== undefined && events.includes(event)) ||
  producerIds.includes(producerId);

const isCoveredByHours = ({ event: _, not, ...filter }: Filter, grouping: Grouping) =>
  isRecordFree({ ...filter, ...(not && { not: { ...not, events: [] } }) }) &&
  (grouping.by === 'level' ||
    grouping.by === 'event' ||
    grouping.by === 'producer' ||
    (grouping.by === 'time' && grouping.intervalMs % HOUR_MS === 0));

/** Usual levels are always counted separately. */
const needsUnusualLevels = ({ levels, not }: Filter, grouping: Grouping) =>
  !(not?.levels ?? []).every(isUsualLevel) || (levels ? !levels.every(isUsualLevel) : grouping.by === 'level');

function keyOfCount(grouping: Grouping, { hour, level, event, producerId }: HourCount) {
  if (grouping.by === 'time') return timeKey(hour, grouping.intervalMs);
  if (grouping.by === 'producer') return producerId;
  return (grouping.by === 'level' ? level : event) ?? MISSING;
}

/** Blocks read concurrently, limited by number and by size. */
const MAX_BLOCKS = 32;
const MAX_CHARACTERS = 16 * 1024 * 1024;

async function countBySearch(
  index: RecordIndex,
  query: Aggregation,
  { filter, coverage }: SearchRemainder,
  tally: Tally,
) {
  let counting: Promise<unknown>[] = [];
  let characters = 0;
  /** Waits for all of them even if one fails: none may keep counting after the key budget is released. */
  const settleAll = async () => {
    const counted = await Promise.allSettled(counting);
    [counting, characters] = [[], 0];
    for (const each of counted) if (each.status === 'rejected') throw each.reason;
  };
  try {
    for await (const ref of index.blocks(filter, 'desc', query.checkpoint, coverage)) {
      const one = countIn(ref, { ...query, filter: relaxFilter(ref, filter) }, tally);
      // It may fail while the next block is fetched; `settleAll` reports the error.
      one.catch(() => {});
      counting.push(one);
      characters += ref.size;
      if (counting.length === MAX_BLOCKS || characters > MAX_CHARACTERS) await settleAll();
    }
    await settleAll();
  } finally {
    await Promise.allSettled(counting);
  }
}

async function countIn(ref: BlockRef, { filter, grouping, checkpoint }: Aggregation, tally: Tally) {
  const needs = needsOf(filter);
  const column = grouping.by === 'time' || grouping.by === 'producer' ? undefined : grouping;
  await ref.read(
    async (block) => {
      const search = { filter, order: 'desc', checkpoint } as const;
      const values = column && block.values?.(column);
      if (values) return countValues(block, search, values, tally);
      return forEachMatch(block, search, (at, record) => {
        tally.add(keysOf(grouping, block, at, record), 1);
        return true;
      });
    },
    {
      ...needs,
      instants: needs.instants === true || grouping.by === 'time',
      columns: column ? [...needs.columns, column] : needs.columns,
    },
  );
}

async function countValues(block: Block, search: Search, { at, texts }: Values, tally: Tally) {
  const counts = new Uint32Array(texts.length);
  await forEachMatch(block, search, (index) => {
    counts[at[index]!]!++;
    return true;
  });
  for (const [entry, count] of counts.entries())
    if (count > 0) tally.add(texts[entry]!.length > 0 ? texts[entry]! : [MISSING], count);
}

/** Parses the record only when no parsed `record` is passed and no column suffices. */
function keysOf(grouping: Grouping, block: Block, at: number, record?: IdentifiedRecord): readonly string[] {
  if (grouping.by === 'level') return [block.level(at)];
  if (grouping.by === 'producer') return [block.producerId];
  if (grouping.by === 'time') return [timeKey(block.instant(at), grouping.intervalMs)];
  const { event, correlationId, data } = record ?? block.record(at);
  if (grouping.by === 'field') {
    const values = new Set(leavesAt(data, grouping.path).map(String));
    return values.size > 0 ? [...values] : [MISSING];
  }
  return [(grouping.by === 'event' ? event : correlationId) ?? MISSING];
}

const timeKey = (instant: number, intervalMs: number) =>
  new Date(Math.floor(instant / intervalMs) * intervalMs).toISOString();
