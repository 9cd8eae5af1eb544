/** Reads pages of a stream and of the whole log, never past the last flush. */
import { verifyRange } from '../../supervisor/safe-range.js';
import { RequestRefused } from './errors.js';
import type { EventLog } from './event-log.js';
import { createdOf, isIntact, revisionOf, streamNumberOf } from './record.js';
import { ownerOfPair, pairKey, placeOfPair, positionKey, readPosition } from './store.js';
import type { StreamState } from './streams.js';

/** Records to send and where to continue; `next` is undefined at the end. */
export interface Page {
  readonly records: readonly Buffer[];
  readonly next: number | undefined;
}

/** Bytes after which a page ends, regardless of its limit: large events must not fill the memory. */
export const PAGE_BYTES = 1 << 20;

/** First readable revision of a stream, ignoring `$maxAge`. */
export const floorOf = (stream: StreamState): number =>
  Math.max(stream.truncateBefore, stream.maxCount === undefined ? 0 : stream.lastRevision - stream.maxCount + 1, 0);

/** Reads events of a stream from revision `from` upwards, examining at most `limit`. */
export function readForwards(log: EventLog, stream: StreamState, from: number, limit: number): Page {
  const first = Math.max(from, floorOf(stream));
  if (first > stream.lastRevision) return { records: [], next: undefined };
  const start = pairKey(stream.number, first);
  const end = pairKey(stream.number, stream.lastRevision + 1);
  const read = page(log, stream, entriesOf(log.store.revisions, { start, end, limit }), limit, 1, oldestOf(stream));
  // Where metadata never hid events, no scavenge has removed any, so the first one must be there.
  const [record] = read.records;
  if (stream.truncateBefore === 0 && !stream.wasHidden) requireNext(stream, first, record ? revisionOf(record) : -1);
  return read;
}

/** Unix ms; older events are hidden. */
const oldestOf = ({ maxAge }: StreamState): number => (maxAge === undefined ? 0 : Date.now() - maxAge);

/** Reads events of a stream from revision `from` downwards. */
export function readBackwards(log: EventLog, stream: StreamState, from: number, limit: number): Page {
  const floor = floorOf(stream);
  const first = Math.min(from, stream.lastRevision);
  if (first < floor) return { records: [], next: undefined };
  // lmdb excludes the end of a range, and no key lies below revision 0 of the stream.
  const end = floor === 0 ? pairKey(stream.number - 1, MAX_PLACE) : pairKey(stream.number, floor - 1);
  const start = pairKey(stream.number, first);
  const entries = entriesOf(log.store.revisions, { start, end, limit, reverse: true });
  return page(log, stream, entries, limit, -1, oldestOf(stream));
}

const MAX_PLACE = 2 ** 48 - 1;

type Table = EventLog['store']['log'];

const entriesOf = (table: Table, range: { start: Buffer; end: Buffer; limit: number; reverse?: boolean }) =>
  verifyRange(table, range, table.getRange(range), ({ key }) => key);

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
  let scanned = 0;
  let bytes = 0;
  let last = 0;
  for (const { key, value } of entries) {
    const revision = placeOfPair(key);
    if (scanned > 0) requireNext(stream, last + step, revision);
    scanned++;
    last = revision;
    const record = readIndexed(log, key, value);
    if (createdOf(record) < oldest) continue;
    records.push(record);
    bytes += record.length;
    if (bytes > PAGE_BYTES) break;
  }
  const next = scanned < limit && bytes <= PAGE_BYTES ? undefined : last + step;
  if (step === 1 && scanned > 0 && next === undefined) requireNext(stream, stream.lastRevision, last);
  return { records, next };
}

/** Returns the event that an index entry points to. A scavenge removes both in one transaction. */
function readIndexed(log: EventLog, key: Buffer, value: Buffer): Buffer {
  const record = log.store.log.get(value);
  const isMatch =
    record &&
    isIntact(record) &&
    streamNumberOf(record) === ownerOfPair(key) &&
    revisionOf(record) === placeOfPair(key);
  if (!isMatch) throw new RequestRefused({ kind: 'damaged', position: readPosition(value) });
  return record;
}

/** Throws if the readable part of a stream has a gap that no scavenge can explain. */
function requireNext(stream: StreamState, expected: number, found: number): void {
  const lastMissing = Math.max(expected, found - 1);
  if (found !== expected && !mayBeScavenged(stream, lastMissing))
    throw new RequestRefused({ kind: 'index-damaged', stream: stream.name });
}

/**
 * True if a scavenge may have removed the revision. A scavenge that runs during a metadata change may remove later
 * events and leave earlier ones; so may `$maxAge`, because clocks are set back.
 */
const mayBeScavenged = (stream: StreamState, revision: number): boolean =>
  stream.maxAge !== undefined || stream.wasHidden || revision < floorOf(stream);

/** Scans the whole log from position `from` upwards; yields positions and records, including damaged ones. */
export function* scanForwards(log: EventLog, from: number, limit: number): Generator<[number, Buffer]> {
  const { position } = log.head();
  if (from > position) return;
  const range = { start: positionKey(from), end: positionKey(position + 1), limit };
  for (const { key, value } of entriesOf(log.store.log, range)) yield [readPosition(key), value];
}

/** Scans the whole log below position `before`, downwards. */
export function* scanBackwards(log: EventLog, before: number, limit: number): Generator<[number, Buffer]> {
  const first = Math.min(before - 1, log.head().position);
  if (first < 0) return;
  const range = { start: positionKey(first), end: positionKey(0), limit, reverse: true };
  for (const { key, value } of entriesOf(log.store.log, range)) yield [readPosition(key), value];
}

/**
 * Scans one category from position `from` upwards without touching other events. Yields undefined for an event that
 * the index names but the log lacks.
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
  for (const key of verifyRange(categoryPositions, range, categoryPositions.getKeys(range), itself)) {
    const at = placeOfPair(key);
    yield [at, log.store.log.get(positionKey(at))];
  }
}
