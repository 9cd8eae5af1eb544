/** What the log service needs of the outside besides the kernel: searches, counts for alert rules, and webhooks. */
import type { Filter } from '../../domain/logs/filter.js';
import type { Order, RecordPosition } from '../../domain/logs/record-id.js';
import type { Counts, Grouping } from './query/aggregate.js';

export interface PageAsked {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  /** Only what comes after it in the order. */
  readonly after?: RecordPosition;
}

export interface CountAsked {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** How many buckets are told. */
  readonly limit: number;
}

/**
 * Works out what is asked of the index; what goes in and out is plain data, for it may be far away. The signal says
 * that whoever asks has gone: then, and over the budget, it rejects with `Abandoned` and `TimedOut`.
 */
export interface Searcher {
  /** A `Page` as JSON. */
  page(asked: PageAsked, signal: AbortSignal): Promise<Uint8Array>;
  /** Rejects with `TooManyKeys`. Without a signal it takes the time that it takes. */
  aggregate(asked: CountAsked, signal?: AbortSignal): Promise<Counts>;
  /** When the newest record was received, Unix ms. */
  lastReceived(): Promise<number | undefined>;
}

/** Counts that the index keeps, for judging alert rules. */
export interface RecordCounts {
  /** Records of level ERROR or FATAL whose instant is in `[from, to]`, Unix ms. */
  errorsBetween(from: number, to: number): Promise<number>;
  /** When the newest record was received, Unix ms; undefined when there is none. */
  lastRecordAt(): Promise<number | undefined>;
}
