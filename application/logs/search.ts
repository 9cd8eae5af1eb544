/** Finds records in the order of answers, opening as few blocks as it can. */
import { type Filter, isColumns, matches } from '../../domain/logs/filter.js';
import { comparePlaces, type Order, type Place } from '../../domain/logs/place.js';
import type { Block, BlockRef, RecordIndex } from './record-index.js';

export interface Search {
  readonly filter: Filter;
  readonly order: Order;
  /** Only what comes after it in the order. */
  readonly after?: Place;
  /** Throws to give up; asked before every block. */
  readonly check?: () => void;
}

/** Blocks are opened one, then two, then four at a time: a rare record is looked for in many. */
const MOST_AT_ONCE = 16;

/** A record that passes, in its block. */
export interface Hit extends Place {
  readonly block: Block;
  readonly index: number;
}

interface Run {
  readonly rest: Iterator<Hit>;
  head: Hit;
}

/** The first records that pass, by instant and id; no more than `most` are looked for. */
export async function search(index: RecordIndex, search: Search, most: number): Promise<readonly Hit[]> {
  const { order, after, check } = search;
  const found: Hit[] = [];
  const filter = after ? narrowed(search.filter, order, after) : search.filter;
  const before = order === 'desc' ? (a: Place, b: Place) => comparePlaces(b, a) : comparePlaces;
  const runs: Run[] = [];
  const refs = index.blocks(filter, order)[Symbol.asyncIterator]();
  let next = await refs.next();
  let atOnce = 1;
  try {
    for (;;) {
      let best = first(runs, before);
      // A block that begins where the best one stands may have an equal instant and an earlier id.
      while (!next.done && (!best || !isBeyond(next.value, best.head, order))) {
        check?.();
        const opening: Promise<Block>[] = [];
        for (; opening.length < atOnce && !next.done; next = await refs.next())
          opening.push(next.value.open());
        atOnce = Math.min(atOnce * 2, MOST_AT_ONCE);
        for (const block of await Promise.all(opening)) {
          const rest = passing(block, filter, order, after);
          const head = rest.next();
          if (!head.done) runs.push({ rest, head: head.value });
        }
        best = first(runs, before);
      }
      if (!best || found.push(best.head) === most) return found;
      const follows = best.rest.next();
      if (follows.done) runs.splice(runs.indexOf(best), 1);
      else best.head = follows.value;
    }
  } finally {
    await refs.return?.();
  }
}

const narrowed = (filter: Filter, order: Order, { instant }: Place): Filter =>
  order === 'desc'
    ? { ...filter, to: Math.min(instant, filter.to ?? instant) }
    : { ...filter, from: Math.max(instant, filter.from ?? instant) };

/** Nothing in the block can come before the place. */
const isBeyond = ({ from, to }: BlockRef, { instant }: Place, order: Order) =>
  order === 'desc' ? to < instant : from > instant;

function first(runs: readonly Run[], before: (a: Place, b: Place) => number): Run | undefined {
  let best: Run | undefined;
  for (const run of runs) if (!best || before(run.head, best.head) < 0) best = run;
  return best;
}

/** The records of a block that pass, in order. Columns and text are looked at first: parsing costs most. */
export function* passing(
  block: Block,
  filter: Filter,
  order: Order,
  after?: Place,
): Generator<Hit, undefined> {
  const whole = !isColumns(filter);
  for (const index of candidates(block, filter, order)) {
    const place = { instant: block.instant(index), id: block.id(index) };
    if (after && !isAfter(after, place, order)) continue;
    if (whole && !matches(filter, block.record(index))) continue;
    yield { ...place, block, index };
  }
}

const isAfter = (after: Place, place: Place, order: Order) =>
  order === 'desc' ? comparePlaces(place, after) < 0 : comparePlaces(place, after) > 0;

/** Indexes of records that columns and text do not rule out. */
export function* candidates(block: Block, filter: Filter, order: Order): Generator<number, undefined> {
  const { from = 0, to = Number.POSITIVE_INFINITY, levels, producerId, audit } = filter;
  if ((producerId ?? block.producerId) !== block.producerId || (audit ?? block.audit) !== block.audit) return;
  const needles = needlesOf(filter);
  const patterns = filter.words.filter((word) => /^\w+$/.test(word)).map((word) => new RegExp(word, 'iu'));
  const { length } = block.order;
  for (let nth = 0; nth < length; nth++) {
    const index = block.order[order === 'desc' ? length - 1 - nth : nth]!;
    const instant = block.instant(index);
    if (instant < from || instant > to) continue;
    if (levels && !levels.includes(block.level(index))) continue;
    if (needles.length > 0 || patterns.length > 0) {
      const line = block.line(index);
      if (!needles.every((needle) => line.includes(needle))) continue;
      if (!patterns.every((pattern) => pattern.test(line))) continue;
    }
    yield index;
  }
}

/** Texts that every record which passes has in its JSON. */
function needlesOf({ event, correlationId, fields }: Filter): string[] {
  const texts = [event, correlationId, ...fields.map(({ value }) => value)];
  // An event may be an object's own JSON, which is written otherwise than a text that reads the same.
  return texts.flatMap((text) => (text && !/^[[{]/.test(text) ? [inJson(text)] : []));
}

/** How a text, or the number, boolean or null it stands for, is written in JSON. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
