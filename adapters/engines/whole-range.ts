/**
 * Ranges of keys, to their true end: lmdb just ends where a page makes no sense, and half of what was asked for would
 * pass for all of it.
 */
import type { RangeOptions } from 'lmdb';

/** The range as lmdb takes it: from `start` to `end`, of which `end` is the lower one where it is reversed. */
type Range = Pick<RangeOptions, 'start' | 'end' | 'limit' | 'reverse' | 'inclusiveEnd' | 'exclusiveStart'>;

interface Table {
  getKeys(range: RangeOptions): Iterable<Buffer>;
}

/**
 * What was found in the range; throws as lmdb does of a damaged page when it ended early. That is seen from the other
 * side: nothing may lie between the range's end and what was found last; and where a damaged key leads that search
 * astray too, it stands next to the end, out of order.
 */
export function* wholeRange<Entry>(
  table: Table,
  range: Range,
  found: Iterable<Entry>,
  keyOf: (entry: Entry) => Buffer,
): Generator<Entry> {
  let count = 0;
  let last: Entry | undefined;
  for (const entry of found) {
    count++;
    last = entry;
    yield entry;
  }
  if (count >= (range.limit ?? Number.POSITIVE_INFINITY)) return;
  const { end, reverse = false, inclusiveEnd = false } = range;
  const back = {
    start: end,
    end: last === undefined ? range.start : keyOf(last),
    exclusiveStart: !inclusiveEnd,
    inclusiveEnd: last === undefined && range.exclusiveStart !== true,
    reverse: !reverse,
    limit: 1,
  };
  for (const _ of table.getKeys(back)) throw endsEarly();
  const [next, following] = table.getKeys({ start: end, exclusiveStart: inclusiveEnd, reverse, limit: 2 });
  if (next && following && Buffer.compare(next, following) > 0 !== reverse) throw endsEarly();
}

const endsEarly = () => new Error('MDB_CORRUPTED: a range of keys ends in its middle');
