/** Rows of the record index. */
import type { Binary, Db, IndexDescription, Long } from 'mongodb';
import { dayName } from '../../../domain/logs/timestamp.js';
import type { RowWrite } from '../../kernel/index.js';

/** Rows of the collections of a build. */
export interface Rows {
  readonly blocks: BlockRow;
  readonly sections: SectionsRow;
  readonly expiry: ExpiryRow;
  readonly hours: HourRow;
  readonly sources: SourceRow;
  readonly requests: RequestRow;
  readonly buckets: BucketRow;
}

export const rowsIn = <Name extends keyof Rows>(db: Db, build: string | undefined, name: Name) =>
  db.collection<Rows[Name]>(`${build}.${name}`);

/** Records of any day, in hours that are not counted. */
const SCATTERED = 'scattered';

/** Part of the index that has a record: `d20261121`, `a20261121` for audit records (retained longer), `dscattered`. */
export const partOf = (instant: number, isCounted: boolean, audit: boolean): string =>
  (audit ? 'a' : 'd') + (isCounted ? dayName(instant) : SCATTERED);

/** Whether a part may have records of the days from the first to the last. */
export const isPartWithin = (part: string, first: string, last: string): boolean =>
  part.endsWith(SCATTERED) || (part.slice(1) >= first && part.slice(1) <= last);

/** `day` and `audit`: full, with instants of one day. */
export type BlockKind = 'open' | 'day' | 'audit' | 'scattered';

/** Kind of the full blocks of a part. */
export function kindOf(part: string): BlockKind {
  if (part.endsWith(SCATTERED)) return 'scattered';
  return part.startsWith('a') ? 'audit' : 'day';
}

/**
 * A block: records of one producer and day of receipt, with instants of one day or scattered. Unencrypted are only
 * their instants, the size of their texts, and which usual levels occur. Instants are Unix ms, sizes are characters.
 */
export interface BlockRow {
  /** Part and position of its first event; further blocks of a large event are numbered. */
  readonly _id: string;
  readonly _at: Long;
  readonly subject: string;
  readonly producerId: string;
  readonly received: string;
  readonly kind: BlockKind;
  readonly audit: boolean;
  /** Day of its latest record or of its receipt, whichever is earlier: it expires with that day. */
  readonly due: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly size: number;
  readonly levels: number;
  /** Index of the first record of each chunk. */
  readonly chunks: readonly number[];
  /**
   * Digests of correlation ids under the subject's key, in a multikey index: those of each chunk, one chunk after the
   * other. Absent while the block is open: it is rewritten often, and every query reads it anyway.
   */
  readonly correlations?: readonly number[];
  /** For each chunk the end of its digests in `correlations`. */
  readonly correlationEnds?: readonly number[];
  /**
   * Encrypted table of words, `path=value` pairs, events and correlation ids by chunk. Of a full block it is in
   * sections, as are the records.
   */
  readonly terms?: Binary;
  /** Compressed and encrypted text of an open block, in one or more pieces. */
  readonly records?: readonly Binary[];
  /** Its part, if filled by small batches. */
  readonly gathered?: string;
}

/** Unencrypted properties of a block. */
export type BlockHeader = Omit<BlockRow, 'records' | 'terms' | 'correlations' | 'correlationEnds'>;

/** Projection of headers. */
export const HEADER = { records: 0, terms: 0, correlations: 0, correlationEnds: 0 } as const;

/** A block that may hold matches. */
export interface Candidate {
  readonly header: BlockHeader;
  /** The chunks that may; absent if all of them. */
  readonly chunks?: readonly number[];
}

export interface BlockRef extends Candidate {
  /** The build. */
  readonly name: string;
  /** The retention that has expired some of its records. */
  readonly expiry?: ExpiryRow | undefined;
}

/** Content of a full block, of one kind. */
export interface SectionsRow {
  readonly _id: string;
  readonly _at: Long;
  /** By name: compressed and encrypted bytes, or true if only the records have the values. */
  readonly sections: StoredSections;
}

export interface StoredSections {
  readonly [name: string]: Binary | true;
}

export const BLOCK_INDEXES: IndexDescription[] = [
  { key: { kind: 1, to: 1 }, name: 'to' },
  { key: { kind: 1, from: 1 }, name: 'from' },
  { key: { correlations: 1 }, name: 'correlations' },
  { key: { subject: 1, gathered: 1, _at: 1 }, name: 'gathered' },
  { key: { audit: 1, due: 1 }, name: 'due' },
];

/** The last retention: records that are older in the log expire if their time or receipt is before. */
export interface ExpiryRow {
  readonly _id: string;
  readonly _at: Long;
  /** Start of a day, Unix ms; `auditBefore` for audit records. */
  readonly before: number;
  readonly auditBefore: number;
}

export const cutoffFor = ({ audit }: Pick<BlockRow, 'audit'>, { before, auditBefore }: ExpiryRow): number =>
  audit ? auditBefore : before;

/** Whether a whole block has expired; its row may not be deleted yet. */
export const isExpired = (block: Pick<BlockRow, '_at' | 'audit' | 'due'>, expiry: ExpiryRow | null): boolean =>
  expiry !== null && block.due < dayName(cutoffFor(block, expiry)) && block._at.lessThan(expiry._at);

/** Counts of one hour of instants, of one producer and day of receipt, without scattered records. */
export interface HourRow {
  readonly _id: string;
  readonly _at: Long;
  readonly hour: number;
  readonly producerId: string;
  readonly audit: boolean;
  readonly received: string;
  readonly total: number;
  /** Detail of the counts; reduced when there are too many kinds. */
  readonly detail: Detail;
  /** `HourRowCount[]` as JSON, encrypted under the key of producer and day of receipt. */
  readonly counts: Binary;
}

/** By level and event, by level, or by level with all unusual ones combined. */
export type Detail = 'events' | 'levels' | 'usual levels';

export interface HourRowCount {
  readonly level?: string;
  readonly event?: string;
  readonly count: number;
}

export const HOUR_INDEXES: IndexDescription[] = [
  { key: { hour: 1 }, name: 'hour' },
  { key: { received: 1 }, name: 'received' },
];

/** Retention bucket: records of a producer and day of receipt, until they expire. */
export interface BucketRow {
  readonly _id: string;
  readonly _at: Long;
  readonly producerId: string;
  readonly received: string;
  readonly audit: boolean;
  /** Unix ms of the latest receipt; absent without records. */
  readonly last?: number;
  /** Parts that have its blocks, in any order; absent without records. */
  readonly parts?: readonly string[];
}

export interface SourceRow {
  readonly _id: string;
  readonly _at: Long;
  readonly offset: number;
}

/** Stream of one request with an `Idempotency-Key`; deleted some time after its records. */
export interface RequestRow {
  readonly _id: string;
  readonly _at: Long;
  readonly subject: string;
  readonly erasedAt?: Date;
}

/** Seconds that names of erased streams are retained: the streams are deleted within the following days. */
const ERASED_REQUEST_TTL_S = 7 * 86_400;

export const REQUEST_INDEXES: IndexDescription[] = [
  { key: { subject: 1 }, name: 'subject' },
  { key: { erasedAt: 1 }, name: 'expire', expireAfterSeconds: ERASED_REQUEST_TTL_S },
];

/** Inserts a row, or replaces one written by an earlier event. */
export const replaceOlder = (row: { readonly _id: string; readonly _at: Long }): RowWrite => ({
  replaceOne: { filter: { _id: row._id, _at: { $lt: row._at } }, replacement: { ...row }, upsert: true },
});
