/** Pages of a stream and of the whole log, never past the last flush. */
import { wholeRange } from '../../supervisor/safe-range.js';
import { Refused } from './errors.js';
import type { EventLog } from './event-log.js';
import { createdOf, isIntact, revisionOf, streamNumberOf } from './record.js';
import { ownerOfPair, pairKey, placeOfPair, positionKey, readPosition } from './store.js';
import type { StreamState } from './streams.js';

/** Records to send, and where to go on; `next` is undefined when there is no more in that direction. */
export interface Page {
  readonly records: readonly Buffer[];
  readonly next: number | undefined;
}

/** A page ends after so many bytes, whatever its limit: large events must not fill the memory. */
export const PAGE_BYTES = 1 << 20;

/** The first revision of a stream that may still be read, `$maxAge` aside. */
export const floorOf = (stream: StreamState): number =>
  Math.max(stream.truncateBefore, stream.maxCount === undefined ? 0 : stream.lastRevision - stream.maxCount + 1, 0);

/** Events of a stream from revision `from` upwards, at most `limit` looked at. */
export function readForwards(log: EventLog, stream: StreamState, from: number, limit: number): Page {
  const first = Math.max(from, floorOf(stream));
  const read = readWritten(log, stream, first, limit, oldestOf(stream));
  // Where the metadata never hid anything, a scavenge has taken nothing away.
  const [record] = read.records;
  if (stream.truncateBefore === 0 && !stream.wasHidden && first <= stream.lastRevision)
    requireNext(stream, first, record ? revisionOf(record) : -1);
  return read;
}

/** The same, with those that the stream's metadata hides: who listens is told of every event that is written. */
export function readWritten(log: EventLog, stream: StreamState, from: number, limit: number, oldest = 0): Page {
  if (from > stream.lastRevision) return { records: [], next: undefined };
  const start = pairKey(stream.number, from);
  const end = pairKey(stream.number, stream.lastRevision + 1);
  return page(log, stream, entriesOf(log.store.revisions, { start, end, limit }), limit, 1, oldest);
}

/** Unix ms: events from before it are not shown. */
const oldestOf = ({ maxAge }: StreamState): number => (maxAge === undefined ? 0 : Date.now() - maxAge);

/** Events of a stream from revision `from` downwards. */
export function readBackwards(log: EventLog, stream: StreamState, from: number, limit: number): Page {
  const floor = floorOf(stream);
  const first = Math.min(from, stream.lastRevision);
  if (first < floor) return { records: [], next: undefined };
  // lmdb leaves the end of a range out, and there is nothing below revision 0 of the stream.
  const end = floor === 0 ? pairKey(stream.number - 1, MAX_PLACE) : pairKey(stream.number, floor - 1);
  const start = pairKey(stream.number, first);
  const entries = entriesOf(log.store.revisions, { start, end, limit, reverse: true });
  return page(log, stream, entries, limit, -1, oldestOf(stream));
}

const MAX_PLACE = 2 ** 48 - 1;

type Table = EventLog['store']['log'];

const entriesOf = (table: Table, range: { start: Buffer; end: Buffer; limit: number; reverse?: boolean }) =>
  wholeRange(table, range, table.getRange(range), ({ key }) => key);

const itself = (key: Buffer): Buffer => key;

function page(
  log: EventLog,
  stream: StreamState,
  entries: Iterable<{ key: Buffer; value: Buffer }>,
  limit: number,
  step: 1 | -1,
  oldest: number,
): Page {
  const records: Buffer[] = [];
  let looked = 0;
  let bytes = 0;
  let last = 0;
  for (const { key, value } of entries) {
    const revision = placeOfPair(key);
    if (looked > 0) requireNext(stream, last + step, revision);
    looked++;
    last = revision;
    const record = indexed(log, key, value);
    if (createdOf(record) < oldest) continue;
    records.push(record);
    bytes += record.length;
    if (bytes > PAGE_BYTES) break;
  }
  const next = looked < limit && bytes <= PAGE_BYTES ? undefined : last + step;
  if (step === 1 && looked > 0 && next === undefined) requireNext(stream, stream.lastRevision, last);
  return { records, next };
}

/** The event that an entry of the index leads to: a scavenge takes both away at once. */
function indexed(log: EventLog, key: Buffer, value: Buffer): Buffer {
  const record = log.store.log.get(value);
  const is =
    record &&
    isIntact(record) &&
    streamNumberOf(record) === ownerOfPair(key) &&
    revisionOf(record) === placeOfPair(key);
  if (!is) throw new Refused({ kind: 'damaged', position: readPosition(value) });
  return record;
}

/** What may be read of a stream has no gaps, but where a scavenge may have taken something. */
function requireNext(stream: StreamState, expected: number, found: number): void {
  const lastMissing = Math.max(expected, found - 1);
  if (found !== expected && !mayBeGone(stream, lastMissing))
    throw new Refused({ kind: 'index-damaged', stream: stream.name });
}

/**
 * One that runs while the metadata changes takes later events, and leaves earlier ones; so does the age of events, for
 * clocks are set back.
 */
const mayBeGone = (stream: StreamState, revision: number): boolean =>
  stream.maxAge !== undefined || stream.wasHidden || revision < floorOf(stream);

/** Events of the whole log from position `from` upwards, with their positions; damaged ones too. */
export function* scanForwards(log: EventLog, from: number, limit: number): Generator<[number, Buffer]> {
  const { position } = log.head();
  if (from > position) return;
  const range = { start: positionKey(from), end: positionKey(position + 1), limit };
  for (const { key, value } of entriesOf(log.store.log, range)) yield [readPosition(key), value];
}

/** Events of the whole log below position `before`, downwards. */
export function* scanBackwards(log: EventLog, before: number, limit: number): Generator<[number, Buffer]> {
  const first = Math.min(before - 1, log.head().position);
  if (first < 0) return;
  const range = { start: positionKey(first), end: positionKey(0), limit, reverse: true };
  for (const { key, value } of entriesOf(log.store.log, range)) yield [readPosition(key), value];
}

/**
 * Events of one category from position `from` upwards; other services' events are not touched. Undefined stands for
 * one that the index leads to and that is not there.
 */
export function* scanCategory(
  log: EventLog,
  category: number,
  from: number,
  limit: number,
): Generator<[number, Buffer | undefined]> {
  const { position } = log.head();
  if (from > position) return;
  const range = { start: pairKey(category, from), end: pairKey(category, position + 1), limit };
  const { categoryPositions } = log.store;
  for (const key of wholeRange(categoryPositions, range, categoryPositions.getKeys(range), itself)) {
    const at = placeOfPair(key);
    yield [at, log.store.log.get(positionKey(at))];
  }
}
