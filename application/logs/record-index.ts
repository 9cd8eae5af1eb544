/** What queries need of the index: blocks that may hold what is asked for, and counts that are kept. */
import type { Filter } from '../../domain/logs/filter.js';
import type { PlacedRecord } from '../../domain/logs/record.js';
import type { Order } from '../../domain/logs/record-id.js';
import type { Checkpoint } from './query/query-budget.js';

/** A block as the index knew it when it was asked; what is added to it later is not in it. */
export interface BlockRef {
  /** Unix ms of its first and its last record. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** Characters of its records. */
  readonly size: number;
  /**
   * Looks into the block, which is open only as long as that takes: few can be at once, so one look must never
   * wait for another. Undefined when the block has gone since, because it expired. Without `needs` all of it is open.
   */
  read<T>(look: (block: Block) => Promise<T>, needs?: Needs): Promise<T | undefined>;
}

/** What is understood of every record, or what stands in it somewhere. */
export type Column =
  | { readonly by: 'level' | 'event' | 'correlation' }
  | { readonly by: 'field'; readonly path: string };

/** What of a block is asked for: all else of it may be closed. */
export interface Needs {
  readonly instants?: boolean;
  /** Ids and sizes. */
  readonly places?: boolean;
  readonly columns?: readonly Column[];
  /** Texts, and what is read from them, of all records or of these. */
  readonly records?: boolean | readonly number[];
}

/** What the records of a block have in a column, each different value of which is told once. */
export interface Values {
  /** For every record which of `texts` are its own. */
  readonly at: ArrayLike<number>;
  /** The values as texts, each once; none where a record has none. */
  readonly texts: readonly (readonly string[])[];
}

/** Records of one producer, parsed only where they are asked for. */
export interface Block {
  readonly producerId: string;
  readonly audit: boolean;
  /** Index of every record, by instant, then id; in no order where instants are closed. */
  readonly order: readonly number[];
  instant(index: number): number;
  level(index: number): string;
  id(index: number): string;
  /** Characters of the record's own JSON text. */
  size(index: number): number;
  /** The record's own JSON text. */
  line(index: number): string;
  record(index: number): PlacedRecord;
  /** Undefined where it is not known but by the records themselves: these are open then. */
  values?(column: Column): Values | undefined;
  /** The record as it is shown, as JSON text. */
  entry(index: number): string;
}

/** How many records of a level and event an hour of a producer has. */
export interface HourCount {
  /** Unix ms of its beginning. */
  readonly hour: number;
  /** Undefined where levels are not told apart. */
  readonly level: string | undefined;
  readonly event: string | undefined;
  readonly count: number;
}

export interface HourCounts {
  readonly counts: readonly HourCount[];
  /** Hours with more kinds of events than are counted one by one: some counts are without their event. */
  readonly withoutEvents: readonly number[];
  /** Hours with more levels than are counted one by one: some counts are without their level, if it is no usual one. */
  readonly withoutLevels: readonly number[];
}

/** Some of the records: those of hours that are counted, or those that no count has in it. */
export type Among = 'counted' | 'not counted';

export interface RecordIndex {
  /**
   * Every block that may hold a record which passes: `desc` by `to` from the latest, `asc` by `from` from the
   * earliest. Nothing that was in the index at the call is missing, whatever is added meanwhile.
   */
  blocks(filter: Filter, order: Order, pace: Checkpoint, among?: Among): AsyncIterable<BlockRef>;
  /**
   * Counts of whole hours in [from, to), Unix ms, of one producer or all, of audit records or others or both. What is
   * among `not counted` is in none of them.
   */
  hours(range: HourRange, pace: Checkpoint): Promise<HourCounts>;
  /** When the newest record was received, Unix ms. */
  lastReceived(): Promise<number | undefined>;
}

export interface HourRange {
  readonly from: number;
  readonly to: number;
  readonly producerId?: string;
  readonly audit?: boolean;
}
