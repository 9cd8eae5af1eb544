/**
 * Verifies key ranges read from lmdb: their order and their true end. lmdb does not notice a wrong page and simply
 * stops at an unreadable one, so a part of a range would pass for all of it.
 */
import type { RangeOptions } from 'lmdb';

/** A range as lmdb takes it: from `start` to `end`; `end` is the lower key if reversed. */
type Range = Pick<RangeOptions, 'start' | 'end' | 'limit' | 'reverse' | 'inclusiveEnd' | 'exclusiveStart'>;

interface Table {
  getKeys(range: RangeOptions): Iterable<Buffer>;
}

/**
 * Yields the entries found in the range. Throws like lmdb on a damaged page if they are out of order or end too early.
 *
 * The end is verified from the other side: no key may lie between the range's end and the last entry found. If a
 * damaged key misleads that search too, it is out of order next to the end.
 */
export function* verifyRange<Entry>(
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

const damaged = (problem: string) => new Error(`MDB_CORRUPTED: a range of keys ${problem}`);
