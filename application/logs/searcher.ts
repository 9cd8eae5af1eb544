/** Works out what is asked of the index. It may be far away: everything that goes in and out of it is plain data. */
import type { Filter } from '../../domain/logs/filter.js';
import type { Order, Place } from '../../domain/logs/place.js';
import type { Clock } from '../ports.js';
import { type Aggregate, aggregate, type Grouping } from './aggregate.js';
import { createPace, unhurried } from './pace.js';
import { pageOf } from './page.js';
import type { RecordIndex } from './record-index.js';

export interface PageAsked {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  /** Only what comes after it in the order. */
  readonly after?: Place;
}

export interface CountAsked {
  readonly filter: Filter;
  readonly grouping: Grouping;
  /** How many buckets are told. */
  readonly limit: number;
}

/** The signal says that whoever asks has gone: then, and over the budget, it rejects with `Abandoned` and `OverBudget`. */
export interface Searcher {
  /** A `Page` as JSON. */
  page(asked: PageAsked, signal: AbortSignal): Promise<Uint8Array>;
  /** Rejects with `TooManyKeys`. Without a signal it takes the time that it takes. */
  aggregate(asked: CountAsked, signal?: AbortSignal): Promise<Aggregate>;
  /** When the newest record was received, Unix ms. */
  lastReceived(): Promise<number | undefined>;
}

/** The keys of all counts that run at the same time, in characters. */
const KEYS_COUNTED = 64 * 1024 * 1024;

export interface SearcherPorts {
  readonly index: RecordIndex;
  readonly clock: Clock;
  /** How long a question may take. */
  readonly budgetMs: number;
}

export function createSearcher({ index, clock, budgetMs }: SearcherPorts): Searcher {
  const room = { left: KEYS_COUNTED };
  const paced = (signal: AbortSignal) => createPace(clock, clock.now() + budgetMs, signal);
  return {
    page: (asked, signal) => pageOf(index, asked, paced(signal)),
    aggregate: ({ filter, grouping, limit }, signal) =>
      aggregate(index, { filter, grouping, pace: signal ? paced(signal) : unhurried, room }, limit),
    lastReceived: () => index.lastReceived(),
  };
}
