/** Answers pages and counts from the index, each in its turn and within its budget. */
import { yieldToEventLoop } from '../../concurrency/index.js';
import type { Clock } from '../../ports/index.js';
import type { Searcher } from '../ports.js';
import type { RecordIndex } from '../record-index.js';
import { aggregate } from './aggregate.js';
import { type Checkpoint, createQueryBudget, yieldOnly } from './query-budget.js';
import { pageOf } from './render-page.js';

/** The keys of all counts that run at the same time, in characters. */
const KEYS_COUNTED = 64 * 1024 * 1024;

export interface SearcherPorts {
  readonly index: RecordIndex;
  readonly clock: Clock;
  /** How long a question may take. */
  readonly budgetMs: number;
}

export function createSearcher({ index, clock, budgetMs }: SearcherPorts): Searcher {
  const budget = { left: KEYS_COUNTED };

  /**
   * It begins in its turn: were many to begin at once, everybody else would wait for all of them, though nobody waits
   * for their answers any more.
   */
  async function inTurn<T>(signal: AbortSignal, work: (pace: Checkpoint) => Promise<T>): Promise<T> {
    const pace = createQueryBudget(clock, clock.now() + budgetMs, signal);
    await yieldToEventLoop();
    await pace();
    return work(pace);
  }

  return {
    page: (asked, signal) => inTurn(signal, (pace) => pageOf(index, asked, pace)),
    aggregate({ filter, grouping, limit }, signal) {
      const work = (pace: Checkpoint) => aggregate(index, { filter, grouping, pace, budget }, limit);
      return signal ? inTurn(signal, work) : work(yieldOnly);
    },
    lastReceived: () => index.lastReceived(),
  };
}
