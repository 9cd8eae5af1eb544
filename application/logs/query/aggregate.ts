/** Counts records by level, event, field, correlation or time: from kept counts where they suffice, else by search. */
import { type Filter, isColumns, leavesAt } from '../../../domain/logs/filter.js';
import { isUsualLevel } from '../../../domain/logs/levels.js';
import type { PlacedRecord } from '../../../domain/logs/record.js';
import { HOUR_MS } from '../../../domain/logs/timestamp.js';
import type { Among, Block, BlockRef, Column, HourCount, RecordIndex, Values } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';
import { eachPassing, needsOf, type Search, within } from './search-blocks.js';
import { type Bucket, createTopKCounter, type KeyBudget, type Tally } from './top-k-counter.js';

export type Grouping = Column | { readonly by: 'time'; readonly intervalMs: number };

/** Records by group, as they were counted. */
export interface Counts {
  /** By count from the highest, then by key. */
  readonly buckets: readonly Bucket[];
  /** Records that passed; one with several values of a field is in several buckets. */
  readonly total: number;
}

export const MISSING = '(missing)';

export interface Aggregation {
  readonly filter: Filter;
  readonly grouping: Grouping;
  readonly pace: Checkpoint;
  readonly budget: KeyBudget;
}

/** Throws what the pace throws, and `TooManyKeys`. */
export async function aggregate(index: RecordIndex, asked: Aggregation, limit: number): Promise<Counts> {
  const tally = createTopKCounter(asked.budget);
  try {
    for (const left of await countKept(index, asked, tally)) await countFound(index, asked, left, tally);
    return { buckets: await tally.largest(limit, asked.pace), total: tally.total() };
  } finally {
    tally.release();
  }
}

/** What kept counts do not answer for. */
interface Left {
  readonly filter: Filter;
  readonly among?: Among;
}

/** Adds the whole hours that kept counts answer for; gives what is left to be searched. */
async function countKept(
  index: RecordIndex,
  { filter, grouping, pace }: Aggregation,
  tally: Tally,
): Promise<readonly Left[]> {
  const { from = 0, to, levels, event, producerId, audit } = filter;
  const first = Math.ceil(from / HOUR_MS) * HOUR_MS;
  const end = to === undefined ? Number.MAX_SAFE_INTEGER : Math.floor((to + 1) / HOUR_MS) * HOUR_MS;
  if (!isKept(filter, grouping) || end <= first) return [{ filter }];
  const range = {
    from: first,
    to: end,
    ...(producerId !== undefined && { producerId }),
    ...(audit !== undefined && { audit }),
  };
  const { counts, withoutEvents, withoutLevels } = await index.hours(range, pace);
  const searched = new Set([
    ...(grouping.by === 'event' || event !== undefined ? withoutEvents : []),
    ...(asksUnusualLevels(filter, grouping) ? withoutLevels : []),
  ]);
  for (const each of counts) {
    if (searched.has(each.hour)) continue;
    if (levels && (each.level === undefined || !levels.includes(each.level))) continue;
    if (event !== undefined && each.event !== event) continue;
    tally.add([keyOfCount(grouping, each)], each.count);
  }
  return [
    ...(from < first ? [{ filter: { ...filter, to: first - 1 } }] : []),
    ...Array.from(searched, (hour) => {
      const within = { ...filter, from: hour, to: hour + HOUR_MS - 1 };
      return { filter: within, among: 'counted' as const };
    }),
    { filter: { ...filter, from: first, ...(to !== undefined && { to: end - 1 }) }, among: 'not counted' },
    ...(to !== undefined && end <= to ? [{ filter: { ...filter, from: end } }] : []),
  ];
}

const isKept = (filter: Filter, grouping: Grouping) =>
  isColumns({ ...filter, event: undefined }) &&
  (grouping.by === 'level' ||
    grouping.by === 'event' ||
    (grouping.by === 'time' && grouping.intervalMs % HOUR_MS === 0));

/** Usual levels are always counted one by one. */
const asksUnusualLevels = ({ levels }: Filter, grouping: Grouping) =>
  levels ? !levels.every(isUsualLevel) : grouping.by === 'level';

function keyOfCount(grouping: Grouping, { hour, level, event }: HourCount) {
  if (grouping.by === 'time') return timeKey(hour, grouping.intervalMs);
  return (grouping.by === 'level' ? level : event) ?? MISSING;
}

/** Blocks that are opened at once; or fewer, where they are large. */
const AT_ONCE = 32;
const CHARACTERS_AT_ONCE = 16 * 1024 * 1024;

async function countFound(index: RecordIndex, asked: Aggregation, { filter, among }: Left, tally: Tally) {
  let counting: Promise<unknown>[] = [];
  let characters = 0;
  /** Waits for all of them, also where one has failed: none may count on when what they took is given back. */
  const all = async () => {
    const counted = await Promise.allSettled(counting);
    [counting, characters] = [[], 0];
    for (const each of counted) if (each.status === 'rejected') throw each.reason;
  };
  try {
    for await (const ref of index.blocks(filter, 'desc', asked.pace, among)) {
      const one = countIn(ref, { ...asked, filter: within(ref, filter) }, tally);
      // It may fail while the next block is asked for.
      one.catch(() => {});
      counting.push(one);
      characters += ref.size;
      if (counting.length === AT_ONCE || characters > CHARACTERS_AT_ONCE) await all();
    }
    await all();
  } finally {
    await Promise.allSettled(counting);
  }
}

async function countIn(ref: BlockRef, { filter, grouping, pace }: Aggregation, tally: Tally) {
  const needs = needsOf(filter);
  const column = grouping.by === 'time' ? undefined : grouping;
  await ref.read(
    async (block) => {
      const search = { filter, order: 'desc', pace } as const;
      const values = column && block.values?.(column);
      if (values) return countValues(block, search, values, tally);
      return eachPassing(block, search, (at, record) => {
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

/** Each different value is counted by its number, and told once. */
async function countValues(block: Block, search: Search, { at, texts }: Values, tally: Tally) {
  const counts = new Uint32Array(texts.length);
  await eachPassing(block, search, (index) => {
    counts[at[index]!]!++;
    return true;
  });
  for (const [entry, count] of counts.entries())
    if (count > 0) tally.add(texts[entry]!.length > 0 ? texts[entry]! : [MISSING], count);
}

/** `record` is parsed only if it is not yet, and if its columns do not suffice. */
function keysOf(grouping: Grouping, block: Block, at: number, record?: PlacedRecord): readonly string[] {
  if (grouping.by === 'level') return [block.level(at)];
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
