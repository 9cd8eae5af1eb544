/**
 * Ranges of keys, in their order and to their true end: lmdb takes a page for the one that should stand in its place,
 * and just ends where one makes no sense; half of what was asked for would pass for all of it.
 */
import type { RangeOptions } from 'lmdb';

/** The range as lmdb takes it: from `start` to `end`, of which `end` is the lower one where it is reversed. */
type Range = Pick<RangeOptions, 'start' | 'end' | 'limit' | 'reverse' | 'inclusiveEnd' | 'exclusiveStart'>;

interface Table {
  getKeys(range: RangeOptions): Iterable<Buffer>;
}

/**
 * What was found in the range; throws as lmdb does of a damaged page when it is out of order, or ended early. That is
 * seen from the other side: nothing may lie between the range's end and what was found last; and where a damaged key
 * leads that search astray too, it stands next to the end, out of order.
 */
export function* wholeRange<Entry>(
  table: Table,
  range: Range,
  found: Iterable<Entry>,
  keyOf: (entry: Entry) => Buffer,
): Generator<Entry> {
  const { end, reverse = false, inclusiveEnd = false } = range;
  let count = 0;
  let last: Buffer | undefined;
  for (const entry of found) {
    const key = keyOf(entry);
    if (last && (reverse ? Buffer.compare(key, last) : Buffer.compare(last, key)) >= 0)
      throw damaged('is out of order');
    count++;
    last = key;
    yield entry;
  }
  if (count >= (range.limit ?? Number.POSITIVE_INFINITY)) return;
  const back = {
    start: end,
    end: last ?? range.start,
    exclusiveStart: !inclusiveEnd,
    inclusiveEnd: last === undefined && range.exclusiveStart !== true,
    reverse: !reverse,
    limit: 1,
  };
  for (const _ of table.getKeys(back)) throw damaged('ends in its middle');
  const [next, following] = table.getKeys({ start: end, exclusiveStart: inclusiveEnd, reverse, limit: 2 });
  if (next && following && Buffer.compare(next, following) > 0 !== reverse) throw damaged('ends in its middle');
}

const damaged = (how: string) => new Error(`MDB_CORRUPTED: a range of keys ${how}`);
