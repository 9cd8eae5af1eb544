/**
 * State of each stream in two views: for writers, including unflushed changes, and for readers, flushed only. A
 * bounded cache in front of the `streams` table serves both.
 */
import { LRUCache } from 'lru-cache';
import { RESTORE_HINT, StoreDamaged } from '../../supervisor/store-check.js';
import { hasValidChecksum, withChecksum } from './checksum.js';
import { RequestRefused } from './errors.js';
import { initialRetention, isMetastream, type Retention, streamOfMetastream } from './metadata.js';
import { TOMBSTONE } from './record.js';
import { ownerOfPair, pairKey, placeOfPair, type Store } from './store.js';

export interface StreamState extends Retention {
  readonly name: string;
  readonly number: number;
  /** Number of the category, the part of the name up to its first dot; 0 for names without a dot. */
  readonly category: number;
  /** -1 for a stream that only has metadata. */
  readonly lastRevision: number;
  readonly tombstoned: boolean;
  /** True if metadata once hid events that it no longer hides: a scavenge may have removed them. */
  readonly wasHidden: boolean;
}

export interface Streams {
  /** State for writers, including unflushed changes. */
  written(name: string): StreamState | undefined;
  /** State for readers. */
  flushed(name: string): StreamState | undefined;
  /** Records a new last revision of a known stream. Not written to the table: the index of revisions has it. */
  advance(state: StreamState): void;
  /** Writes a new stream, or a change beyond the last revision; call only inside `submit`. */
  put(state: StreamState): void;
  /** Creates the state of a new stream without writing it. */
  create(name: string): StreamState;
  /** Marks all changes since the last call as flushed. */
  settle(): void;
  /** Discards all changes since the last `settle`. */
  rollBack(): void;
  /** True if the stream, or the stream its metadata describes, is tombstoned. */
  isTombstoned(name: string, view: 'written' | 'flushed'): boolean;
  /** Number of a category: 0 if no stream has it, undefined if it may have no number because there are too many. */
  categoryNumber(category: string): number | undefined;
}

/** The part of a stream name up to and including its first dot; '' if it has none. */
export const categoryOf = (name: string): string => name.slice(0, name.indexOf('.') + 1);

const CACHED_STREAMS = 20_000;
/** Streams of categories beyond this are found by scanning. */
const MAX_CATEGORIES = 10_000;

export function openStreams(store: Store): Streams {
  const cache = new LRUCache<string, StreamState>({ max: CACHED_STREAMS });
  /** Unflushed states, with the state readers still see. */
  const unflushed = new Map<string, { before: StreamState | undefined; after: StreamState }>();
  const categories = new Map<string, number>();
  let lastNumber = 0;
  readNumbers();

  function readNumbers(): void {
    categories.clear();
    for (const { key, value } of store.categories.getRange()) categories.set(key.toString(), readNumber(key, value));
    const storedNumber = store.notes.get(LAST_STREAM);
    lastNumber = storedNumber ? readNumber(LAST_STREAM, storedNumber) : 0;
  }

  function load(name: string): StreamState | undefined {
    const cached = cache.get(name);
    if (cached) return cached;
    const key = Buffer.from(name);
    const bytes = store.streams.get(key);
    if (bytes ? !hasValidChecksum(key, bytes, STATE_BYTES) : !isMissing(store, key))
      throw new RequestRefused({ kind: 'index-damaged', stream: name });
    if (!bytes) return undefined;
    const row = decodeState(name, bytes);
    const state = { ...row, lastRevision: Math.max(row.lastRevision, lastIndexed(store, row.number)) };
    cache.set(name, state);
    return state;
  }

  function numberOfCategory(name: string): number {
    const category = categoryOf(name);
    if (category === '') return 0;
    let number = categories.get(category);
    if (number === undefined && categories.size >= MAX_CATEGORIES) return 0;
    if (number === undefined) {
      number = categories.size + 1;
      categories.set(category, number);
      putNumber(store.categories, Buffer.from(category), number);
    }
    return number;
  }

  function advance(state: StreamState): void {
    const pending = unflushed.get(state.name);
    const before = pending ? pending.before : load(state.name);
    unflushed.set(state.name, { before, after: state });
  }

  const streams: Streams = {
    written: (name) => unflushed.get(name)?.after ?? load(name),
    flushed: (name) => {
      const pending = unflushed.get(name);
      return pending ? pending.before : load(name);
    },
    advance,
    put(state) {
      advance(state);
      const key = Buffer.from(state.name);
      store.streams.put(key, withChecksum(key, encodeState(state)));
    },
    create(name) {
      lastNumber++;
      putNumber(store.notes, LAST_STREAM, lastNumber);
      return {
        name,
        number: lastNumber,
        category: numberOfCategory(name),
        lastRevision: -1,
        tombstoned: false,
        wasHidden: false,
        ...initialRetention(name),
      };
    },
    settle() {
      for (const { after } of unflushed.values()) cache.set(after.name, after);
      unflushed.clear();
    },
    rollBack() {
      unflushed.clear();
      readNumbers();
    },
    isTombstoned: (name, view) =>
      streams[view](name)?.tombstoned === true ||
      (isMetastream(name) && streams[view](streamOfMetastream(name))?.tombstoned === true),
    categoryNumber: (category) => categories.get(category) ?? (categories.size < MAX_CATEGORIES ? 0 : undefined),
  };
  return streams;
}

/**
 * Verifies that a key is really absent. A damaged key misleads the search only next to itself, so both neighbours must
 * be intact and in order.
 */
function isMissing({ streams }: Store, key: Buffer): boolean {
  for (const reverse of [false, true])
    for (const side of streams.getRange({ start: key, reverse, limit: 1 })) {
      if (!hasValidChecksum(side.key, side.value, STATE_BYTES)) return false;
      const order = Buffer.compare(side.key, key);
      if (reverse ? order >= 0 : order <= 0) return false;
    }
  return true;
}

/** Last revision of a stream in the index, ignoring a tombstone; -1 if there is none. */
function lastIndexed(store: Store, stream: number): number {
  const range = { start: pairKey(stream, TOMBSTONE - 1), reverse: true, limit: 1 };
  for (const key of store.revisions.getKeys(range)) {
    if (ownerOfPair(key) === stream) return placeOfPair(key);
  }
  return -1;
}

/** Maximum bytes of a stream name. */
export const MAX_NAME = 1024;

const LAST_STREAM = Buffer.from('last-stream');
const NO_LIMIT = 0;

const NUMBER_BYTES = 4;

function putNumber(table: Store['notes'], key: Buffer, number: number): void {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32LE(number);
  table.put(key, withChecksum(key, bytes));
}

/** Throws `StoreDamaged`: with a wrong number, another stream would be read and written. */
function readNumber(key: Buffer, value: Buffer): number {
  if (hasValidChecksum(key, value, NUMBER_BYTES)) return value.readUInt32LE();
  throw new StoreDamaged(`the numbers of streams in the event store are damaged: ${RESTORE_HINT}`);
}

const STATE_BYTES = 41;
const TOMBSTONED = 1;
const WAS_HIDDEN = 2;

function encodeState(state: StreamState): Buffer {
  const bytes = Buffer.allocUnsafe(STATE_BYTES);
  bytes.writeUInt32LE(state.number, 0);
  bytes.writeUInt32LE(state.category, 4);
  bytes.writeDoubleLE(state.lastRevision, 8);
  bytes.writeDoubleLE(state.truncateBefore, 16);
  bytes.writeDoubleLE(state.maxCount ?? NO_LIMIT, 24);
  bytes.writeDoubleLE(state.maxAge ?? NO_LIMIT, 32);
  bytes.writeUInt8(state.tombstoned ? TOMBSTONED : state.wasHidden ? WAS_HIDDEN : 0, 40);
  return bytes;
}

function decodeState(name: string, bytes: Buffer): StreamState {
  return {
    name,
    number: bytes.readUInt32LE(0),
    category: bytes.readUInt32LE(4),
    lastRevision: bytes.readDoubleLE(8),
    truncateBefore: bytes.readDoubleLE(16),
    maxCount: bytes.readDoubleLE(24) || undefined,
    maxAge: bytes.readDoubleLE(32) || undefined,
    tombstoned: bytes.readUInt8(40) === TOMBSTONED,
    wasHidden: bytes.readUInt8(40) === WAS_HIDDEN,
  };
}
