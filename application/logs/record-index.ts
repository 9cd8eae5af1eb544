/** Port to the record index: blocks that may hold matching records, and hourly counts. */
import type { Filter } from '../../domain/logs/filter.js';
import type { IdentifiedRecord } from '../../domain/logs/record.js';
import type { Order } from '../../domain/logs/record-id.js';
import type { Checkpoint } from './query/query-budget.js';

/** A block as the index knew it at the time of the query; records added later are not in it. */
export interface BlockRef {
  /** Unix ms of its earliest and latest record. */
  readonly from: number;
  readonly to: number;
  /** Characters of the JSON of the records that may match. */
  readonly size: number;
  /**
   * Reads the block, which stays decrypted only while `look` runs. Few blocks may be open, so one read must never wait
   * for another. Undefined when the block has expired. Without `needs` the whole block is read.
   */
  read<T>(look: (block: Block) => Promise<T>, needs?: Needs): Promise<T | undefined>;
}

/** A derived property of every record, or a field of its JSON. */
export type Column =
  | { readonly by: 'level' | 'event' | 'correlation' }
  | { readonly by: 'field'; readonly path: string };

export interface Needs {
  readonly instants?: boolean;
  /** Ids and sizes. */
  readonly places?: boolean;
  readonly columns?: readonly Column[];
  /** Texts and parsed values of all records, or of these. */
  readonly records?: boolean | readonly number[];
}

/** A dictionary-encoded column. */
export interface Values {
  /** For every record the index of its values in `texts`. */
  readonly at: ArrayLike<number>;
  /** Distinct values as texts; an empty list for records without a value. */
  readonly texts: readonly (readonly string[])[];
}

/** Records of one producer, parsed on demand. */
export interface Block {
  readonly producerId: string;
  readonly audit: boolean;
  /** Record indexes by instant, then id; unordered when instants were not read. */
  readonly order: readonly number[];
  instant(index: number): number;
  level(index: number): string;
  id(index: number): string;
  /** Characters of the record's own JSON text. */
  size(index: number): number;
  /** Returns a test of single records by their texts; `test` must hold for joined texts if it does for one of them. */
  testTexts(test: (text: string) => boolean): (index: number) => boolean;
  record(index: number): IdentifiedRecord;
  /** Undefined when only the records themselves have the values; they are readable then. */
  values?(column: Column): Values | undefined;
  /** The record as the API returns it, as JSON text. */
  entry(index: number): string;
}

/** Number of records of one level and event in one hour of a producer. */
export interface HourCount {
  readonly hour: number;
  readonly producerId: string;
  /** Undefined where the levels of an hour are not counted separately. */
  readonly level: string | undefined;
  readonly event: string | undefined;
  readonly count: number;
}

export interface HourCounts {
  readonly counts: readonly HourCount[];
  /** Hours with too many kinds of events to count separately: some counts lack their event. */
  readonly withoutEvents: readonly number[];
  /** Hours with too many levels to count separately: some counts of unusual levels lack their level. */
  readonly withoutLevels: readonly number[];
}

/** Restricts a search to records of hours with hourly counts, or to records that no hourly count includes. */
export type Coverage = 'counted' | 'not counted';

export interface RecordIndex {
  /**
   * Every block that may hold a match: `desc` by `to` from the latest, `asc` by `from` from the earliest. Complete as
   * of the call; later additions may be missing.
   */
  blocks(filter: Filter, order: Order, checkpoint: Checkpoint, coverage?: Coverage): AsyncIterable<BlockRef>;
  /**
   * Counts of full hours in [from, to), Unix ms, of one producer or all, of audit records, others or both. Records
   * that are `not counted` are in none of them.
   */
  hours(range: HourRange, checkpoint: Checkpoint): Promise<HourCounts>;
  lastReceived(): Promise<number | undefined>;
}

export interface HourRange {
  readonly from: number;
  readonly to: number;
  readonly producerId: string | undefined;
  readonly audit: boolean | undefined;
}
