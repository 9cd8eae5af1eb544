/** Opens the lmdb environment: log, indexes and stream states, keyed by fixed-width big-endian numbers. */
import { open, type RootDatabase } from 'lmdb';
import { checkLength } from '../../supervisor/lmdb-length-check.js';
import { type CheckedFile, checkKind, watchStoreFile } from '../../supervisor/store-check.js';
import { ordinalOf } from './record.js';

type Table = ReturnType<typeof openTable>;

export interface Store {
  readonly environment: RootDatabase;
  /** Path of the store's file. */
  readonly path: string;
  readonly file: CheckedFile;
  /** Position -> record. */
  readonly log: Table;
  /** Stream number and revision -> position. */
  readonly revisions: Table;
  /** Category number and position -> empty. */
  readonly categoryPositions: Table;
  /** Stream name -> state, see streams.ts. */
  readonly streams: Table;
  /** Category -> number. */
  readonly categories: Table;
  /** Counters and the state of the scavenger. */
  readonly notes: Table;
  /** Empty except while a scavenge wipes free pages. */
  readonly filler: Table;
}

/** Page size of a new store: several events of chat message size share 8 KB; pages of 4 KB would waste more. */
const PAGE_SIZE = 8192;

/** Table names in the file. */
const NAMES = {
  log: 'log',
  revisions: 'revisions',
  categoryPositions: 'category-positions',
  streams: 'streams',
  categories: 'categories',
  notes: 'notes',
  filler: 'filler',
} as const;

/** lmdb stores table names with a trailing zero byte. */
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
    // A commit becomes visible only when it is on disk.
    overlappingSync: false,
    // Implicit batches would reject promises that nothing handles when a commit fails.
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
  return { environment, path: file, file: watchStoreFile(file, environment), ...tables };
}

const openTable = (environment: RootDatabase, name: string) =>
  environment.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary', cache: false });

/** Appends a record at the end. The `append` option makes lmdb fill pages instead of splitting them in half. */
export function appendRecord({ log }: Store, position: number, record: Buffer): void {
  // The type declarations omit the options of `put`.
  const put: (key: Buffer, value: Buffer, options: { append: true }) => Promise<boolean> = log.put;
  // The batch reports why a record could not be stored.
  put.call(log, positionKey(position), record, { append: true }).catch(() => {});
}

const POSITION_BYTES = 6;

export function positionKey(position: number): Buffer {
  const key = Buffer.allocUnsafe(POSITION_BYTES);
  key.writeUIntBE(position, 0, POSITION_BYTES);
  return key;
}

export const readPosition = (bytes: Buffer, offset = 0): number => bytes.readUIntBE(offset, POSITION_BYTES);

/** Key of a stream number and revision, or of a category number and position. */
export function pairKey(owner: number, place: number): Buffer {
  const key = Buffer.allocUnsafe(4 + POSITION_BYTES);
  key.writeUInt32BE(owner, 0);
  key.writeUIntBE(place, 4, POSITION_BYTES);
  return key;
}

export const ownerOfPair = (key: Buffer): number => key.readUInt32BE(0);
export const placeOfPair = (key: Buffer): number => readPosition(key, 4);

/** End of the log: the last event's position, and the position and ordinal of the next event. */
export interface Head {
  readonly position: number;
  readonly nextPosition: number;
  readonly nextOrdinal: number;
}

/** Start of an empty log. No event has position 0, which clients send for "from the start". */
const ORIGIN: Head = { position: 0, nextPosition: 64, nextOrdinal: 0 };

/**
 * Reads the end of the log. Positions are byte offsets: each event ends where the next one starts. The last event is
 * never scavenged.
 */
export function readHead(store: Store): Head {
  for (const { key, value } of store.log.getRange({ reverse: true, limit: 1 })) {
    const position = readPosition(key);
    return { position, nextPosition: position + value.length, nextOrdinal: ordinalOf(value) + 1 };
  }
  return ORIGIN;
}

/** The last event before `position`; undefined if there is none. */
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

/** True if the server ever assigned this position: an event has it, or a scavenge removed the events there. */
export function isValidPosition(store: Store, position: number): boolean {
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
