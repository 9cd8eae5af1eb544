/** Ports of the log service besides the kernel's: searches and the counts alert rules need. */
import type { Filter } from '../../domain/logs/filter.js';
import type { Order, RecordPosition } from '../../domain/logs/record-id.js';
import type { Counts, Grouping } from './query/aggregate.js';

export interface PageRequest {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  /** Only records after it in the order. */
  readonly after?: RecordPosition;
}

export interface CountRequest {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** Maximum buckets returned. */
  readonly limit: number;
}

/**
 * Runs queries on the index. Arguments and results are plain data, because it may be in another process. Rejects with
 * `Abandoned` when the signal is aborted and with `TimedOut` when the budget is exceeded.
 */
export interface Searcher {
  /** A `Page` as JSON. */
  page(request: PageRequest, signal: AbortSignal): Promise<Uint8Array>;
  /** Rejects with `TooManyKeys`. Has no time limit without a signal. */
  aggregate(request: CountRequest, signal?: AbortSignal): Promise<Counts>;
  /** When the newest record was received, Unix ms. */
  lastReceived(): Promise<number | undefined>;
}

/** Counts for alert rules. */
export interface RecordCounts {
  /** Number of records of level ERROR or FATAL with an instant in `[from, to]`, Unix ms. */
  errorsBetween(from: number, to: number): Promise<number>;
  /** When the newest record was received, Unix ms; undefined when there is none. */
  lastRecordAt(): Promise<number | undefined>;
}
