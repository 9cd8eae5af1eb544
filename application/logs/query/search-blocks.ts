/** Finds records in the order of answers, opening as few blocks as it can, and holding on to none of them. */
import { type Filter, isColumns, matches } from '../../../domain/logs/filter.js';
import type { PlacedRecord } from '../../../domain/logs/record.js';
import { compareRecords, type Order, type RecordPosition } from '../../../domain/logs/record-id.js';
import type { Block, BlockRef, Column, Needs, RecordIndex, Values } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';

export interface Search {
  readonly filter: Filter;
  readonly order: Order;
  /** Only what comes after it in the order. */
  readonly after?: RecordPosition;
  readonly pace: Checkpoint;
}

/** Blocks are opened one, then two, then four at a time: a rare record is looked for in many. */
const MOST_AT_ONCE = 16;
/** Or fewer, where they are large. */
const CHARACTERS_AT_ONCE = 4 * 1024 * 1024;

/** A record that passes, where it is to be found. */
export interface Hit extends RecordPosition {
  readonly ref: BlockRef;
  readonly index: number;
  /** Characters of its JSON text. */
  readonly size: number;
}

/** What passes in one block, in order, from `next` on. */
interface Run {
  readonly hits: readonly Hit[];
  next: number;
}

/** The records that pass, by instant and id; no more than `most` may be asked for. */
export async function* search(
  index: RecordIndex,
  { filter, order, after, pace }: Search,
  most: number,
): AsyncGenerator<Hit, undefined> {
  const asked = after ? narrowed(filter, order, after) : filter;
  const before = order === 'desc' ? (a: RecordPosition, b: RecordPosition) => compareRecords(b, a) : compareRecords;
  const runs: Run[] = [];
  const refs = index.blocks(asked, order, pace)[Symbol.asyncIterator]();
  let next = await refs.next();
  let atOnce = 1;
  try {
    for (let found = 0; found < most; found++) {
      let best = first(runs, before);
      // A block that begins where the best one stands may have an equal instant and an earlier id.
      while (!next.done && (!best || !isBeyond(next.value, head(best), order))) {
        const reading: Promise<readonly Hit[]>[] = [];
        let left = CHARACTERS_AT_ONCE;
        for (; reading.length < atOnce && left > 0 && !next.done; next = await refs.next()) {
          left -= next.value.size;
          const hits = hitsIn(next.value, { filter: asked, order, pace, ...(after && { after }) }, most);
          // It may fail while the next block is asked for, or be left alone when that fails: told below, or to nobody.
          hits.catch(() => {});
          reading.push(hits);
        }
        atOnce = Math.min(atOnce * 2, MOST_AT_ONCE);
        for (const hits of await Promise.all(reading)) if (hits.length > 0) runs.push({ hits, next: 0 });
        best = first(runs, before);
      }
      if (!best) return;
      yield head(best);
      best.next++;
      if (best.next === best.hits.length) runs.splice(runs.indexOf(best), 1);
    }
  } finally {
    await refs.return?.();
  }
}

const narrowed = (filter: Filter, order: Order, { instant }: RecordPosition): Filter =>
  order === 'desc'
    ? { ...filter, to: Math.min(instant, filter.to ?? instant) }
    : { ...filter, from: Math.max(instant, filter.from ?? instant) };

/** Nothing in the block can come before the place. */
const isBeyond = ({ from, to }: BlockRef, { instant }: RecordPosition, order: Order) =>
  order === 'desc' ? to < instant : from > instant;

const head = ({ hits, next }: Run) => hits[next]!;

function first(runs: readonly Run[], before: (a: RecordPosition, b: RecordPosition) => number): Run | undefined {
  let best: Run | undefined;
  for (const run of runs) if (!best || before(head(run), head(best)) < 0) best = run;
  return best;
}

async function hitsIn(ref: BlockRef, search: Search, most: number): Promise<readonly Hit[]> {
  const { order, after, pace } = search;
  const filter = within(ref, search.filter);
  const hits: Hit[] = [];
  await ref.read(
    (block) =>
      eachPassing(block, { filter, order, pace }, (index) => {
        const place = { instant: block.instant(index), id: block.id(index) };
        if (!after || isAfter(after, place, order)) hits.push({ ...place, ref, index, size: block.size(index) });
        return hits.length < most;
      }),
    { ...needsOf(filter), instants: true, places: true },
  );
  return hits;
}

const isAfter = (after: RecordPosition, place: RecordPosition, order: Order) =>
  order === 'desc' ? compareRecords(place, after) < 0 : compareRecords(place, after) > 0;

/** What a filter asks of a block: nothing of instants where all of them pass. */
export function within({ from: first, to: last }: BlockRef, filter: Filter): Filter {
  const { from, to, ...rest } = filter;
  return {
    ...rest,
    ...(from !== undefined && from > first && { from }),
    ...(to !== undefined && to < last && { to }),
  };
}

/** What of a block must be open to tell which of its records pass. */
export function needsOf(filter: Filter): Needs & { readonly columns: readonly Column[] } {
  const { from, to, levels, words } = filter;
  return {
    instants: from !== undefined || to !== undefined,
    columns: [...(levels ? [LEVEL] : []), ...testsOf(filter).map(({ column }) => column)],
    records: words.length > 0,
  };
}

const LEVEL: Column = { by: 'level' };

/** What of a filter asks for one value in a column. */
const testsOf = ({ event, correlationId, fields }: Filter) => [
  ...(event === undefined ? [] : [{ column: { by: 'event' } as const, value: event }]),
  ...(correlationId === undefined ? [] : [{ column: { by: 'correlation' } as const, value: correlationId }]),
  ...fields.map(({ path, value }) => ({ column: { by: 'field', path } as const, value })),
];

/** Looking at so many records in columns takes no longer than at one that has to be parsed. */
const STRIDE = 64;

/**
 * Tells the records of a block that pass, in order, until one is answered with false. `record` is there when it had
 * to be parsed: columns and text are looked at first, for parsing costs most.
 */
export async function eachPassing(
  block: Block,
  { filter, order, pace }: Search,
  found: (index: number, record: PlacedRecord | undefined) => boolean,
): Promise<void> {
  const { from = 0, to = Number.POSITIVE_INFINITY, levels, producerId, audit } = filter;
  if ((producerId ?? block.producerId) !== block.producerId || (audit ?? block.audit) !== block.audit) return;
  const anyInstant = filter.from === undefined && filter.to === undefined;
  const { passes, rest } = inColumns(block, filter);
  const whole = !isColumns(rest);
  const mayPass = lookAtText(rest);
  const { length } = block.order;
  for (let nth = 0; nth < length; nth++) {
    const turn = whole || nth % STRIDE === 0 ? pace() : undefined;
    if (turn) await turn;
    const index = block.order[order === 'desc' ? length - 1 - nth : nth]!;
    if (!anyInstant) {
      const instant = block.instant(index);
      if (instant < from || instant > to) continue;
    }
    if (!passes.every(({ at, passing }) => passing[at[index]!])) continue;
    if (rest.levels && !levels?.includes(block.level(index))) continue;
    if (whole && !mayPass(block.line(index))) continue;
    const record = whole ? block.record(index) : undefined;
    if (record && !matches(rest, record)) continue;
    if (!found(index, record)) return;
  }
}

/** What the columns of a block tell of a filter, each of their values looked at once; `rest` they do not tell. */
function inColumns(block: Block, filter: Filter) {
  const passes: { readonly at: Values['at']; readonly passing: readonly boolean[] }[] = [];
  const told = (column: Column, test: (text: string) => boolean): boolean => {
    const values = block.values?.(column);
    if (values) passes.push({ at: values.at, passing: values.texts.map((texts) => texts.some(test)) });
    return values !== undefined;
  };
  const { levels, event, correlationId, fields, ...rest } = filter;
  const left: Filter = {
    ...rest,
    ...(levels && !told(LEVEL, (level) => levels.includes(level)) && { levels }),
    ...(event !== undefined && !told({ by: 'event' }, (text) => text === event) && { event }),
    ...(correlationId !== undefined &&
      !told({ by: 'correlation' }, (text) => text === correlationId) && { correlationId }),
    fields: fields.filter(({ path, value }) => !told({ by: 'field', path }, (text) => text === value)),
  };
  return { passes, rest: left };
}

/** Whether a record's JSON text does not rule out that it passes. */
function lookAtText({ event, correlationId, fields, words }: Filter): (line: string) => boolean {
  const texts = [event, correlationId, ...fields.map(({ value }) => value)];
  // An event may be an object's own JSON, which is written otherwise than a text that reads the same.
  const needles = texts.flatMap((text) => (text && !/^[[{]/.test(text) ? [inJson(text)] : []));
  const patterns = words.filter((word) => /^\w+$/.test(word)).map((word) => new RegExp(word, 'iu'));
  return (line) => needles.every((needle) => line.includes(needle)) && patterns.every((pattern) => pattern.test(line));
}

/** How a text, or the number, boolean or null it stands for, is written in JSON. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
