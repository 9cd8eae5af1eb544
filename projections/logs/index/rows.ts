/** Rows of the record index. */
import type { Binary, IndexDescription, Long } from 'mongodb';
import type { RowWrite } from '../../kernel/index.js';
import type { Partition } from './partitions.js';

/**
 * A block: records of one producer and day of receipt, with instants of one day or scattered. Unencrypted are only
 * their instants, the size of their texts, and which usual levels occur. Instants are Unix ms, sizes are characters.
 */
export interface BlockRow {
  /** Position of its first event; further blocks of a large event are numbered. */
  readonly _id: string;
  readonly _at: Long;
  readonly subject: string;
  readonly producerId: string;
  readonly received: string;
  readonly from: number;
  readonly to: number;
  readonly count: number;
  readonly size: number;
  readonly levels: number;
  /**
   * Digests of correlation ids under the subject's key, in a multikey index. Absent while the block is open: it is
   * rewritten often, and every query reads it anyway.
   */
  readonly correlations?: readonly number[];
  /** Encrypted Bloom filter of words, `path=value` pairs, events and correlation ids. */
  readonly terms?: Binary;
  /** Compressed and encrypted text of an open block, in one or more pieces. */
  readonly records?: readonly Binary[];
  /** Set instead of both on a full block, stored in `SectionsRow`s: index of the first record of each chunk. */
  readonly chunks?: readonly number[];
  /** Number of expired records that are hidden, all earlier than `before` (Unix ms). */
  readonly over?: { readonly count: number; readonly before: number };
  /** `gathered`: filled by small batches. `gathering`: still open. */
  readonly gathered?: true;
  readonly gathering?: true;
}

/** Unencrypted properties of a block. */
export type BlockHeader = Pick<
  BlockRow,
  | '_id'
  | '_at'
  | 'subject'
  | 'producerId'
  | 'from'
  | 'to'
  | 'count'
  | 'size'
  | 'levels'
  | 'chunks'
  | 'over'
  | 'gathering'
>;

export interface BlockRef {
  readonly name: string;
  readonly part: Partition;
  readonly header: BlockHeader;
}

/** Content of a full block, of one kind. */
export interface SectionsRow {
  readonly _id: string;
  readonly _at: Long;
  readonly received: string;
  /** By name: compressed and encrypted bytes, or true if only the records have the values. */
  readonly sections: { readonly [name: string]: Binary | true };
}

export const BLOCK_INDEXES: IndexDescription[] = [
  { key: { to: 1 }, name: 'to' },
  { key: { from: 1 }, name: 'from' },
  { key: { correlations: 1 }, name: 'correlations' },
  { key: { subject: 1, gathered: 1, _at: 1 }, name: 'gathered' },
  { key: { gathering: 1 }, name: 'gathering', sparse: true },
];

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
  /** Partitions that hold its blocks. */
  readonly parts: readonly string[];
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
