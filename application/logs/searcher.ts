/** Works out what is asked of the index. It may be far away: everything that goes in and out of it is plain data. */
import type { Filter } from '../../domain/logs/filter.js';
import type { Order, Place } from '../../domain/logs/place.js';
import type { Clock } from '../ports.js';
import { nextTurn } from '../turns.js';
import { type Aggregate, aggregate, type Grouping } from './aggregate.js';
import { createPace, type Pace, unhurried } from './pace.js';
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

  /**
   * It begins in its turn: were many to begin at once, everybody else would wait for all of them, though nobody waits
   * for their answers any more.
   */
  async function inTurn<T>(signal: AbortSignal, work: (pace: Pace) => Promise<T>): Promise<T> {
    const pace = createPace(clock, clock.now() + budgetMs, signal);
    await nextTurn();
    await pace();
    return work(pace);
  }

  return {
    page: (asked, signal) => inTurn(signal, (pace) => pageOf(index, asked, pace)),
    aggregate({ filter, grouping, limit }, signal) {
      const work = (pace: Pace) => aggregate(index, { filter, grouping, pace, room }, limit);
      return signal ? inTurn(signal, work) : work(unhurried);
    },
    lastReceived: () => index.lastReceived(),
  };
}
