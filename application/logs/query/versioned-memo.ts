/** Answers that still hold: many who ask the same between two changes ask it once. */
import { LRUCache } from 'lru-cache';
import type { Cache } from '../../ports/index.js';
import { Abandoned } from './query-budget.js';

/** On a node that does not project, changes are heard of late: what is older than this is asked again. */
const FRESH_MS = 200;

export interface VersionedMemo<Answer> {
  /**
   * `ask` is stopped when all who wait for its answer have gone. Rejects with `Abandoned` when one's own signal is
   * aborted.
   */
  once<T extends Answer>(question: string, ask: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T>;
  readonly cache: Cache;
}

export interface AskedOptions<Answer> {
  /** Of the cache. */
  readonly name: string;
  /** Changes with the rows; an answer reflects at least what it was when it was asked for. */
  readonly version: () => unknown;
  /** How much is kept, in bytes, and what an answer takes of it. */
  readonly limitBytes: number;
  readonly sizeOf: (answer: Answer) => number;
  /** Ms that never go back. */
  readonly now?: () => number;
}

interface Running {
  readonly answer: Promise<unknown>;
  readonly stop: AbortController;
  waiting: number;
}

export function createVersionedMemo<Answer>({
  name,
  version,
  limitBytes,
  sizeOf,
  now = () => performance.now(),
}: AskedOptions<Answer>): VersionedMemo<Answer> {
  const kept = new LRUCache<string, { readonly answer: Answer }>({ maxSize: limitBytes });
  let running = new Map<string, Running>();
  let [of, since] = [version(), now()];

  function renew() {
    const current = version();
    if (current === of && now() - since <= FRESH_MS) return;
    kept.clear();
    running = new Map();
    [of, since] = [current, now()];
  }

  function begin<T extends Answer>(question: string, ask: (signal: AbortSignal) => Promise<T>): Running {
    const mine = running;
    const stop = new AbortController();
    const answer = ask(stop.signal).then((each) => {
      if (mine === running) kept.set(question, { answer: each }, { size: sizeOf(each) + 2 * question.length });
      return each;
    });
    // Whoever waits is told by `answer` itself; nobody may be left.
    answer.catch(() => {});
    const begun = { answer, stop, waiting: 0 };
    mine.set(question, begun);
    return begun;
  }

  return {
    cache: { name, limitBytes, bytes: () => kept.calculatedSize },

    async once<T extends Answer>(question: string, ask: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) {
      if (signal?.aborted) throw new Abandoned();
      renew();
      const known = kept.get(question);
      if (known) return known.answer as T;
      const mine = running;
      const one = mine.get(question) ?? begin(question, ask);
      one.waiting++;
      let leave = () => {};
      const gone = new Promise<never>((_, reject) => {
        leave = () => reject(new Abandoned());
      });
      signal?.addEventListener('abort', leave);
      try {
        return (await Promise.race([one.answer, gone])) as T;
      } finally {
        signal?.removeEventListener('abort', leave);
        one.waiting--;
        if (one.waiting === 0) {
          // Does nothing to what is answered; what is stopped is joined by nobody any more.
          one.stop.abort();
          if (mine.get(question) === one) mine.delete(question);
        }
      }
    },
  };
}
