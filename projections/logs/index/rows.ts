/** What stands in the collections of the record index. */
import type { Binary, IndexDescription, Long } from 'mongodb';
import type { RowWrite } from '../../kernel/index.js';

/**
 * A run of records of one producer, received on one day, whose instants are of one day too, or scattered. Nothing of a
 * record stands in clear but its instant, the size of its text, and whether its level is one of the usual ones.
 */
export interface BlockRow {
  /** Position of its first event; a large event makes several blocks, numbered from the second on. */
  readonly _id: string;
  readonly _at: Long;
  /** Whose key seals it. */
  readonly subject: string;
  readonly producerId: string;
  /** Of the receipt, `20261121`. */
  readonly received: string;
  /** Unix ms of its first and last record. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Characters of its records. */
  readonly size: number;
  /** Sum of the `levelBit` of every level in it. */
  readonly levels: number;
  /**
   * Digests of correlation ids under the subject's key: a multikey index finds the few blocks of one among all. Not
   * while the block still gathers: it is written again and again then, and every query looks at it anyway.
   */
  readonly correlations?: readonly number[];
  /** Bloom filter of words, `path=value` pairs, events and correlation ids, sealed: it rules out most blocks unopened. */
  readonly terms?: Binary;
  /** The block's text, packed and sealed: whole, or the pieces that were gathered so far. */
  readonly records?: readonly Binary[];
  /** In the place of both: the content is in rows of its own, and this is where its pieces of records begin. */
  readonly chunks?: readonly number[];
  /** Of its records, those that are no longer kept: how many, and all of them are before an instant, in Unix ms. */
  readonly over?: { readonly count: number; readonly before: number };
  /** Small batches are gathered in it; once it is full, `gathering` goes. */
  readonly gathered?: true;
  readonly gathering?: true;
}

/** What a block that takes no more is made of, of one kind. */
export interface SectionsRow {
  /** Of `sectionsId`. */
  readonly _id: string;
  readonly _at: Long;
  readonly received: string;
  /** By name: packed and sealed; or the name of another that says the same; or true, that only the records tell. */
  readonly sections: { readonly [name: string]: Binary | string | true };
}

export const BLOCK_INDEXES: IndexDescription[] = [
  { key: { to: 1 }, name: 'to' },
  { key: { from: 1 }, name: 'from' },
  { key: { correlations: 1 }, name: 'correlations' },
  { key: { subject: 1, gathered: 1, _at: 1 }, name: 'gathered' },
  { key: { gathering: 1 }, name: 'gathering', sparse: true },
];

/** How many records an hour of instants has, of one producer and day of receipt, without those that lie scattered. */
export interface HourRow {
  readonly _id: string;
  readonly _at: Long;
  /** Unix ms of its beginning. */
  readonly hour: number;
  readonly producerId: string;
  readonly audit: boolean;
  readonly received: string;
  /** How many there are of all kinds. */
  readonly total: number;
  /** How they are told apart; the more kinds there are, the less. */
  readonly detail: Detail;
  /** `HourRowCount[]` as JSON, sealed under the key of the producer and day of receipt. */
  readonly counts: Binary;
}

/** By level and event, by level, or by level with all unusual ones together. */
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

/** That there are records of a producer and day of receipt, until they expire. */
export interface KeepingRow {
  readonly _id: string;
  /** Of the last batch with records. */
  readonly _at: Long;
  readonly producerId: string;
  readonly received: string;
  readonly audit: boolean;
  /** When the last of its records were received, Unix ms; not there while it has none. */
  readonly last?: number;
  /** Names of the collections that its blocks are in. */
  readonly parts: readonly string[];
}

/** How far a file was read into the log. */
export interface SourceRow {
  readonly _id: string;
  readonly _at: Long;
  /** Bytes. */
  readonly offset: number;
}

/** A stream that holds only one request, the one with an `Idempotency-Key`; it goes some time after its records. */
export interface RequestRow {
  /** The stream's name. */
  readonly _id: string;
  readonly _at: Long;
  /** Whose key seals it. */
  readonly subject: string;
  /** When its records were let go. */
  readonly erasedAt?: Date;
}

/** Streams are ended in the days after their records: whoever does it finds their names here. */
const REQUESTS_KEPT_S = 7 * 86_400;

export const REQUEST_INDEXES: IndexDescription[] = [
  { key: { subject: 1 }, name: 'subject' },
  { key: { erasedAt: 1 }, name: 'expire', expireAfterSeconds: REQUESTS_KEPT_S },
];

/** Makes a row, or puts it in the place of one of an earlier event. */
export const replacing = (row: { readonly _id: string; readonly _at: Long }): RowWrite => ({
  replaceOne: { filter: { _id: row._id, _at: { $lt: row._at } }, replacement: { ...row }, upsert: true },
});
