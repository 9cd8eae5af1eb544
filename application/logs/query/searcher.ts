/** Answers pages and counts from the index, each within its time budget. */
import type { Filter } from '../../../domain/logs/filter.js';
import { yieldToEventLoop } from '../../concurrency/index.js';
import type { Clock } from '../../ports/index.js';
import type { RecordIndex } from '../record-index.js';
import { aggregate, type Counts, type Grouping } from './aggregate.js';
import { type Checkpoint, createQueryBudget, yieldOnly } from './query-budget.js';
import { type PageRequest, renderPage } from './render-page.js';

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

/** Characters of the keys of all concurrent counts. */
const MAX_KEY_CHARACTERS = 64 * 1024 * 1024;

export interface SearcherPorts {
  readonly index: RecordIndex;
  readonly clock: Clock;
  /** Milliseconds a query may take. */
  readonly budgetMs: number;
}

export function createSearcher({ index, clock, budgetMs }: SearcherPorts): Searcher {
  const budget = { remaining: MAX_KEY_CHARACTERS };

  /** Yields before it starts: many queries that start in one tick would block the event loop, even when aborted. */
  async function runWithBudget<T>(signal: AbortSignal, work: (checkpoint: Checkpoint) => Promise<T>): Promise<T> {
    const checkpoint = createQueryBudget(clock, clock.now() + budgetMs, signal);
    await yieldToEventLoop();
    await checkpoint();
    return work(checkpoint);
  }

  return {
    page: (request, signal) => runWithBudget(signal, (checkpoint) => renderPage(index, request, checkpoint)),
    aggregate({ filter, grouping, limit }, signal) {
      const work = (checkpoint: Checkpoint) => aggregate(index, { filter, grouping, checkpoint, budget }, limit);
      return signal ? runWithBudget(signal, work) : work(yieldOnly);
    },
    lastReceived: () => index.lastReceived(),
  };
}
