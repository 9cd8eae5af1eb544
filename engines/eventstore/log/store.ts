/** The lmdb environment: the log, its indexes and the streams, with keys as fixed-width big-endian bytes. */
import { open, type RootDatabase } from 'lmdb';
import { checkLength } from '../../supervisor/lmdb-length-check.js';
import { type CheckedFile, checkKind, keepEyeOn } from '../../supervisor/store-check.js';
import { ordinalOf } from './record.js';

type Table = ReturnType<typeof openTable>;

export interface Store {
  readonly environment: RootDatabase;
  /** Of the file that holds all. */
  readonly path: string;
  readonly file: CheckedFile;
  /** Position -> record. */
  readonly log: Table;
  /** Stream number and revision -> position. */
  readonly revisions: Table;
  /** Category number and position -> nothing. */
  readonly categoryPositions: Table;
  /** Stream name -> state, see streams.ts. */
  readonly streams: Table;
  /** Category -> number. */
  readonly categories: Table;
  /** Counters and what the scavenger remembers. */
  readonly notes: Table;
  /** Empty but while a scavenge wipes free pages. */
  readonly filler: Table;
}

/** Of a new store: several events of a message's size share a page of 8 KB, which one of 4 KB would waste. */
const PAGE_SIZE = 8192;

/** Of the tables, in the file. */
const NAMES = {
  log: 'log',
  revisions: 'revisions',
  categoryPositions: 'category-positions',
  streams: 'streams',
  categories: 'categories',
  notes: 'notes',
  filler: 'filler',
} as const;

/** As lmdb keeps names: with a zero behind them. */
const isName = (key: Buffer): boolean => Object.values(NAMES).some((name) => key.equals(Buffer.from(`${name}\0`)));

/** Opens or creates the store in `directory`. Only one process may have it open. */
export function openStore(directory: string): Store {
  const environment = open({
    path: `${directory}/log`,
    noSubdir: false,
    pageSize: PAGE_SIZE,
    maxDbs: 8,
    cache: false,
    encoding: 'binary',
    keyEncoding: 'binary',
    // A commit is visible only when it is on disk.
    overlappingSync: false,
    // Its own batches would reject promises that nobody holds when a commit fails.
    eventTurnBatching: false,
  });
  const file = `${directory}/log/data.mdb`;
  checkLength(environment, file);
  checkKind(environment, file, isName);
  const tables = {
    log: openTable(environment, NAMES.log),
    revisions: openTable(environment, NAMES.revisions),
    categoryPositions: openTable(environment, NAMES.categoryPositions),
    streams: openTable(environment, NAMES.streams),
    categories: openTable(environment, NAMES.categories),
    notes: openTable(environment, NAMES.notes),
    filler: openTable(environment, NAMES.filler),
  };
  return { environment, path: file, file: keepEyeOn(file, environment), ...tables };
}

const openTable = (environment: RootDatabase, name: string) =>
  environment.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false });

/** Puts a record behind all others: told so, lmdb fills its pages instead of splitting them in half. */
export function appendRecord({ log }: Store, position: number, record: Buffer): void {
  // The types leave out that `put` takes options.
  const put: (key: Buffer, value: Buffer, options: { append: true }) => Promise<boolean> = log.put;
  // Why it could not be stored is told by the batch.
  put.call(log, positionKey(position), record, { append: true }).catch(() => {});
}

const POSITION_BYTES = 6;

export function positionKey(position: number): Buffer {
  const key = Buffer.allocUnsafe(POSITION_BYTES);
  key.writeUIntBE(position, 0, POSITION_BYTES);
  return key;
}

export const readPosition = (bytes: Buffer, offset = 0): number => bytes.readUIntBE(offset, POSITION_BYTES);

/** A stream number with a revision, or a category number with a position. */
export function pairKey(owner: number, place: number): Buffer {
  const key = Buffer.allocUnsafe(4 + POSITION_BYTES);
  key.writeUInt32BE(owner, 0);
  key.writeUIntBE(place, 4, POSITION_BYTES);
  return key;
}

export const ownerOfPair = (key: Buffer): number => key.readUInt32BE(0);
export const placeOfPair = (key: Buffer): number => readPosition(key, 4);

/** The end of the log: the last event's position, the position and ordinal the next one gets. */
export interface Head {
  readonly position: number;
  readonly nextPosition: number;
  readonly nextOrdinal: number;
}

/** Where an empty log starts: position 0 is the client's word for "from the start", so no event has it. */
const ORIGIN: Head = { position: 0, nextPosition: 64, nextOrdinal: 0 };

/** Positions are byte offsets: each event ends where the next one begins. The last event is never scavenged. */
export function readHead(store: Store): Head {
  for (const { key, value } of store.log.getRange({ reverse: true, limit: 1 })) {
    const position = readPosition(key);
    return { position, nextPosition: position + value.length, nextOrdinal: ordinalOf(value) + 1 };
  }
  return ORIGIN;
}

/** The last event before `position`, undefined when there is none. */
export function lastBefore(store: Store, position: number): { position: number; ordinal: number } | undefined {
  for (const { key, value } of store.log.getRange({
    start: positionKey(Math.max(position - 1, 0)),
    reverse: true,
    limit: 1,
  })) {
    return { position: readPosition(key), ordinal: ordinalOf(value) };
  }
  return undefined;
}

/** Whether the server ever gave this position: it is an event's, or it lies where a scavenge removed events. */
export function wasGiven(store: Store, position: number): boolean {
  for (const { key, value } of store.log.getRange({
    start: positionKey(position),
    reverse: true,
    limit: 1,
  })) {
    const before = readPosition(key);
    return before === position || position >= before + value.length;
  }
  return position >= ORIGIN.nextPosition;
}
