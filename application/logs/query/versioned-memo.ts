/** Memoizes query results until the data changes; equal concurrent queries run once. */
import { LRUCache } from 'lru-cache';
import type { Cache } from '../../ports/index.js';
import { Abandoned } from './query-budget.js';

/** Milliseconds a result stays valid: nodes that do not project learn of changes late. */
const FRESH_MS = 200;

export interface MemoOptions<Result> {
  readonly name: string;
  /** Changes with the data; a result reflects at least the version at the time of the query. */
  readonly version: () => unknown;
  readonly limitBytes: number;
  readonly sizeOf: (result: Result) => number;
  readonly now?: () => number;
}

interface PendingQuery {
  readonly result: Promise<unknown>;
  readonly controller: AbortController;
  waiters: number;
}

export function createVersionedMemo<Result>({
  name,
  version,
  limitBytes,
  sizeOf,
  now = () => performance.now(),
}: MemoOptions<Result>) {
  const cache = new LRUCache<string, { readonly result: Result }>({ maxSize: limitBytes });
  let pending = new Map<string, PendingQuery>();
  let [currentVersion, refreshedAt] = [version(), now()];

  function invalidate() {
    const current = version();
    if (current === currentVersion && now() - refreshedAt <= FRESH_MS) return;
    cache.clear();
    pending = new Map();
    [currentVersion, refreshedAt] = [current, now()];
  }

  function start<T extends Result>(key: string, load: (signal: AbortSignal) => Promise<T>): PendingQuery {
    const queries = pending;
    const controller = new AbortController();
    const result = load(controller.signal).then((value) => {
      if (queries === pending) cache.set(key, { result: value }, { size: sizeOf(value) + 2 * key.length });
      return value;
    });
    // Callers get the error from `result`; there may be none left.
    result.catch(() => {});
    const query = { result, controller, waiters: 0 };
    queries.set(key, query);
    return query;
  }

  return {
    cache: { name, limitBytes, bytes: () => cache.calculatedSize } satisfies Cache,

    /**
     * Returns the cached result or runs `load`, which is aborted when no caller waits any more. Rejects with
     * `Abandoned` when the caller's own signal is aborted.
     */
    async get<T extends Result>(key: string, load: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal) {
      if (signal?.aborted) throw new Abandoned();
      invalidate();
      const cached = cache.get(key);
      if (cached) return cached.result as T;
      const queries = pending;
      const query = queries.get(key) ?? start(key, load);
      query.waiters++;
      let abort = () => {};
      const aborted = new Promise<never>((_, reject) => {
        abort = () => reject(new Abandoned());
      });
      signal?.addEventListener('abort', abort);
      try {
        return (await Promise.race([query.result, aborted])) as T;
      } catch (error) {
        // Only unfinished queries: aborting creates an error with its stack.
        if (query.waiters === 1) query.controller.abort();
        throw error;
      } finally {
        signal?.removeEventListener('abort', abort);
        query.waiters--;
        // A stopped query must not be joined.
        if (query.waiters === 0 && queries.get(key) === query) queries.delete(key);
      }
    },
  };
}
