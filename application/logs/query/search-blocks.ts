/** Finds records in result order, reading as few blocks as possible and holding none of them. */
import { type Exclusions, type Filter, isRecordFree, matches } from '../../../domain/logs/filter.js';
import type { IdentifiedRecord } from '../../../domain/logs/record.js';
import { compareRecords, type Order, type RecordPosition } from '../../../domain/logs/record-id.js';
import type { Block, BlockRef, Column, Needs, RecordIndex, Values } from '../record-index.js';
import type { Checkpoint } from './query-budget.js';

export interface Search {
  readonly filter: Filter;
  readonly order: Order;
  readonly after?: RecordPosition | undefined;
  readonly checkpoint: Checkpoint;
}

/**
 * Characters read concurrently, in at least one block: at first those of a few chunks, as one block may fill the page;
 * doubled each time, because a rare record may be in any of many blocks.
 */
const CHARACTERS = { first: 128 * 1024, max: 4 * 1024 * 1024 };
const MAX_BLOCKS = 16;

export interface Hit extends RecordPosition {
  readonly ref: BlockRef;
  readonly index: number;
  readonly size: number;
}

/** The matches of one block in order, consumed from `next` on. */
interface Run {
  readonly hits: readonly Hit[];
  next: number;
}

export async function* search(
  index: RecordIndex,
  { filter, order, after, checkpoint }: Search,
  limit: number,
): AsyncGenerator<Hit, undefined> {
  const narrowedFilter = after ? narrowFilter(filter, order, after) : filter;
  const compare = order === 'desc' ? (a: RecordPosition, b: RecordPosition) => compareRecords(b, a) : compareRecords;
  const runs: Run[] = [];
  const refs = index.blocks(narrowedFilter, order, checkpoint)[Symbol.asyncIterator]();
  let next = await refs.next();
  let { first: characters } = CHARACTERS;
  try {
    for (let count = 0; count < limit; count++) {
      let best = first(runs, compare);
      // A block that starts at the best hit's instant may hold a smaller id.
      while (!next.done && (!best || !isBeyond(next.value, head(best), order))) {
        const pending: Promise<readonly Hit[]>[] = [];
        let remaining = characters;
        for (; pending.length < MAX_BLOCKS && remaining > 0 && !next.done; next = await refs.next()) {
          remaining -= next.value.size;
          const hits = hitsIn(next.value, { filter: narrowedFilter, order, checkpoint, after }, limit);
          // A rejection is reported by `Promise.all` below, unless the next block's error comes first.
          hits.catch(() => {});
          pending.push(hits);
        }
        characters = Math.min(characters * 2, CHARACTERS.max);
        for (const hits of await Promise.all(pending)) if (hits.length > 0) runs.push({ hits, next: 0 });
        best = first(runs, compare);
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

const narrowFilter = (filter: Filter, order: Order, { instant }: RecordPosition): Filter =>
  order === 'desc'
    ? { ...filter, to: Math.min(instant, filter.to ?? instant) }
    : { ...filter, from: Math.max(instant, filter.from ?? instant) };

const isBeyond = ({ from, to }: BlockRef, { instant }: RecordPosition, order: Order) =>
  order === 'desc' ? to < instant : from > instant;

const head = ({ hits, next }: Run) => hits[next]!;

function first(runs: readonly Run[], compare: (a: RecordPosition, b: RecordPosition) => number): Run | undefined {
  let best: Run | undefined;
  for (const run of runs) if (!best || compare(head(run), head(best)) < 0) best = run;
  return best;
}

async function hitsIn(ref: BlockRef, search: Search, limit: number): Promise<readonly Hit[]> {
  const { order, after, checkpoint } = search;
  const filter = relaxFilter(ref, search.filter);
  const needs = needsOf(filter);
  const hits: Hit[] = [];
  await ref.read(
    (block) =>
      forEachMatch(block, { filter, order, checkpoint }, (index) => {
        const place = { instant: block.instant(index), id: block.id(index) };
        if (!after || isAfter(after, place, order)) hits.push({ ...place, ref, index, size: block.size(index) });
        return hits.length < limit;
      }),
    { ...needs, instants: true, places: true },
  );
  return hits;
}

const isAfter = (after: RecordPosition, place: RecordPosition, order: Order) =>
  order === 'desc' ? compareRecords(place, after) < 0 : compareRecords(place, after) > 0;

/** Drops time bounds that every record of the block satisfies. */
export function relaxFilter({ from: first, to: last }: BlockRef, filter: Filter): Filter {
  const { from, to, ...rest } = filter;
  return {
    ...rest,
    ...(from !== undefined && from > first && { from }),
    ...(to !== undefined && to < last && { to }),
  };
}

/** Parts of a block that are needed to evaluate the filter. */
export function needsOf(filter: Filter): Needs & { readonly columns: readonly Column[] } {
  const { from, to, levels, words, not } = filter;
  const needsLevel = levels !== undefined || (not?.levels ?? []).length > 0;
  return {
    instants: from !== undefined || to !== undefined,
    columns: [...(needsLevel ? [LEVEL] : []), ...testsOf(filter).map(({ column }) => column)],
    records: words.length > 0,
  };
}

const LEVEL: Column = { by: 'level' };

const testsOf = ({ event, correlationId, fields, not }: Filter) => [
  ...(event === undefined ? [] : [{ column: { by: 'event' } as const, value: event }]),
  ...(correlationId === undefined ? [] : [{ column: { by: 'correlation' } as const, value: correlationId }]),
  ...[...fields, ...(not?.fields ?? [])].map(({ path, value }) => ({ column: { by: 'field', path } as const, value })),
  ...(not?.events ?? []).map((value) => ({ column: { by: 'event' } as const, value })),
];

/** Records per checkpoint: when only columns are examined, or texts as well, with some parsed. */
const STRIDE = { columns: 64, texts: 8 };
/** Characters of texts per checkpoint; a record has up to 64 Ki. */
const STRIDE_CHARACTERS = 32 * 1024;

/**
 * Calls `onMatch` with the matching records of a block, in order, until it returns false. `record` is passed if it had
 * to be parsed: columns and text are checked first, because parsing is expensive.
 */
export async function forEachMatch(
  block: Block,
  { filter, order, checkpoint }: Search,
  onMatch: (index: number, record: IdentifiedRecord | undefined) => boolean,
): Promise<void> {
  const { from = 0, to = Number.POSITIVE_INFINITY, levels, producerId, audit } = filter;
  if ((producerId ?? block.producerId) !== block.producerId || (audit ?? block.audit) !== block.audit) return;
  if (filter.not?.producerIds.includes(block.producerId)) return;
  const anyInstant = filter.from === undefined && filter.to === undefined;
  const { passes, rest } = evaluateColumns(block, filter);
  const whole = !isRecordFree(rest);
  const mayMatch = textPrefilter(rest);
  let characters = 0;
  const mayPass = block.testTexts((text) => {
    characters += text.length;
    return mayMatch(text);
  });
  const stride = whole ? STRIDE.texts : STRIDE.columns;
  const { length } = block.order;
  for (let nth = 0; nth < length; nth++) {
    if (nth % stride === 0 || characters > STRIDE_CHARACTERS) {
      characters = 0;
      const pause = checkpoint();
      if (pause) await pause;
    }
    const index = block.order[order === 'desc' ? length - 1 - nth : nth]!;
    if (!anyInstant) {
      const instant = block.instant(index);
      if (instant < from || instant > to) continue;
    }
    if (!passes.every(({ at, passing }) => passing[at[index]!])) continue;
    if (whole && !mayPass(index)) continue;
    if (rest.levels && !levels?.includes(block.level(index))) continue;
    if (rest.not && rest.not.levels.length > 0 && rest.not.levels.includes(block.level(index))) continue;
    const record = whole ? block.record(index) : undefined;
    if (record && !matches(rest, record)) continue;
    if (!onMatch(index, record)) return;
  }
}

/** Evaluates what the block's columns can, once per distinct value; `rest` is the filter they cannot evaluate. */
function evaluateColumns(block: Block, filter: Filter) {
  const passes: { readonly at: Values['at']; readonly passing: readonly boolean[] }[] = [];
  const applyColumn = (column: Column, test: (text: string) => boolean, wanted = true): boolean => {
    const values = block.values?.(column);
    if (values) passes.push({ at: values.at, passing: values.texts.map((texts) => texts.some(test) === wanted) });
    return values !== undefined;
  };
  const exclude = (column: Column, excluded: readonly string[]) =>
    excluded.length > 0 && applyColumn(column, (text) => excluded.includes(text), false) ? [] : excluded;
  const { levels, event, correlationId, fields, not, ...others } = filter;
  const restNot: Exclusions | undefined = not && {
    levels: exclude(LEVEL, not.levels),
    events: exclude({ by: 'event' }, not.events),
    producerIds: not.producerIds,
    fields: not.fields.filter(({ path, value }) => exclude({ by: 'field', path }, [value]).length > 0),
  };
  const rest: Filter = {
    ...others,
    ...(levels && !applyColumn(LEVEL, (level) => levels.includes(level)) && { levels }),
    ...(event !== undefined && !applyColumn({ by: 'event' }, (text) => text === event) && { event }),
    ...(correlationId !== undefined &&
      !applyColumn({ by: 'correlation' }, (text) => text === correlationId) && { correlationId }),
    fields: fields.filter(({ path, value }) => !applyColumn({ by: 'field', path }, (text) => text === value)),
    ...(restNot && { not: restNot }),
  };
  return { passes, rest };
}

/** Bounds of what is looked for in each text: a condition is tried at every character. The rest is checked by `matches`. */
const PREFILTER = { characters: 32, conditions: 3 };

/** Returns a check on the JSON texts of one or more records that rejects most without a match. */
function textPrefilter({ event, correlationId, fields, words }: Filter): (text: string) => boolean {
  const { characters, conditions } = PREFILTER;
  // Digits have no case, and are found much faster without a pattern.
  const isCaseless = (word: string) => /^\d+$/.test(word);
  const texts = [event, correlationId, ...fields.map(({ value }) => value), ...words.filter(isCaseless)];
  // An event may be an object's own JSON, which is escaped differently from a string.
  const needles = texts
    .flatMap((text) => (text && !/^[[{]/.test(text) ? [toJsonFragment(text).slice(0, characters)] : []))
    .slice(0, conditions);
  const patterns = words
    .filter((word) => /^\w+$/.test(word) && !isCaseless(word))
    .slice(0, conditions)
    .map((word) => new RegExp(word.slice(0, characters), 'iu'));
  return (text) => needles.every((needle) => text.includes(needle)) && patterns.every((pattern) => pattern.test(text));
}

/** A text, or the number, boolean or null it stands for, as it appears in JSON. */
const toJsonFragment = (text: string) => JSON.stringify(text).slice(1, -1);
