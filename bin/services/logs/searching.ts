/** Searches the index of the log service in a worker thread, so that heavy queries block no other service. */
import { createWorkerThread } from '../../../adapters/platform/process/worker.js';
import { Abandoned, TimedOut } from '../../../application/logs/query/query-budget.js';
import type { Searcher } from '../../../application/logs/query/searcher.js';
import { TooManyKeys } from '../../../application/logs/query/top-k-counter.js';
import { type Cache, type Logger, UndecryptableError } from '../../../application/ports/index.js';
import type { Kernel } from '../../node/kernel.js';

/** Twice the combined limit of counts, open blocks and caches. */
const HEAP_MB = 384;

/** Start parameters of the thread. */
export interface SearcherData {
  readonly url: string;
  readonly database: string;
  readonly budgetMs: number;
}

/** Build and version of the read model at the time of a query. */
export interface Serving {
  readonly build: string | undefined;
  readonly version: unknown;
}

/** Memory used by a cache of the thread. */
export interface CacheUsage extends Pick<Cache, 'name' | 'limitBytes'> {
  readonly usedBytes: number;
}

export interface SearchingPorts {
  readonly kernel: Pick<Kernel, 'models' | 'keys' | 'onUndecryptable'>;
  readonly serving: () => Serving;
  /** Time limit of a query. */
  readonly budgetMs: number;
  /** Called once for each cache of the thread. */
  readonly onCache: (cache: Cache) => void;
  readonly logger: Logger;
}

export function startSearcher({ kernel, serving, budgetMs, onCache, logger }: SearchingPorts) {
  const usedBytes = new Map<string, number>();
  const data: SearcherData = { ...kernel.models, budgetMs };
  const thread = createWorkerThread({
    module: new URL('./searcher-thread.js', import.meta.url),
    data,
    handlers: {
      key: (_, subject: string) => kernel.keys.read(subject),
      undecryptable: (_, subject: string, sealed: string) =>
        kernel.onUndecryptable(new UndecryptableError(subject, sealed)),
      cacheUsage(_, caches: readonly CacheUsage[]) {
        for (const { usedBytes: bytes, name, limitBytes } of caches) {
          if (!usedBytes.has(name)) onCache({ name, limitBytes, bytes: () => usedBytes.get(name) ?? 0 });
          usedBytes.set(name, bytes);
        }
      },
    },
    errorClasses: [Abandoned, TimedOut, TooManyKeys],
    heapMb: HEAP_MB,
    logger,
  });
  const searcher: Searcher = {
    page: (query, signal) => thread.call('page', [serving(), query], signal),
    aggregate: (query, signal) => thread.call('aggregate', [serving(), query, signal !== undefined], signal),
    lastReceived: () => thread.call('lastReceived', [serving()]),
  };
  return { ...searcher, close: thread.close };
}
