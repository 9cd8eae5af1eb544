/** Searches the index of the log service in a thread of its own: heavy questions take no other service's processor. */
import { createThread } from '../../../adapters/platform/process/worker.js';
import type { Searcher } from '../../../application/logs/ports.js';
import { Abandoned, TimedOut } from '../../../application/logs/query/query-budget.js';
import { TooManyKeys } from '../../../application/logs/query/top-k-counter.js';
import { type Cache, type Logger, UndecryptableError } from '../../../application/ports/index.js';
import type { Kernel } from '../../node/kernel.js';

/** Twice what all counts, open blocks and caches may take at once. */
const HEAP_MB = 384;

/** What the thread is begun with. */
export interface SearcherData {
  readonly url: string;
  readonly database: string;
  readonly budgetMs: number;
}

/** What is served while a question is asked. */
export interface Serving {
  readonly build: string | undefined;
  readonly version: unknown;
}

/** What a cache of the thread holds. */
export interface CacheUse extends Pick<Cache, 'name' | 'limitBytes'> {
  readonly held: number;
}

export interface SearchingPorts {
  readonly kernel: Pick<Kernel, 'models' | 'keys' | 'toldUnopened'>;
  readonly serving: () => Serving;
  /** How long a question may take. */
  readonly budgetMs: number;
  /** Told of each cache of the thread once. */
  readonly cache: (cache: Cache) => void;
  readonly logger: Logger;
}

export function startSearcher({ kernel, serving, budgetMs, cache, logger }: SearchingPorts) {
  const held = new Map<string, number>();
  const data: SearcherData = { ...kernel.models, budgetMs };
  const thread = createThread({
    module: new URL('./searcher-thread.js', import.meta.url),
    data,
    answers: {
      key: (_, subject: string) => kernel.keys.read(subject),
      unopened: (_, subject: string, sealed: string) => kernel.toldUnopened(new UndecryptableError(subject, sealed)),
      held(_, caches: readonly CacheUse[]) {
        for (const { held: bytes, name, limitBytes } of caches) {
          if (!held.has(name)) cache({ name, limitBytes, bytes: () => held.get(name) ?? 0 });
          held.set(name, bytes);
        }
      },
    },
    kinds: [Abandoned, TimedOut, TooManyKeys],
    heapMb: HEAP_MB,
    logger,
  });
  const searcher: Searcher = {
    page: (asked, signal) => thread.call('page', [serving(), asked], signal),
    aggregate: (asked, signal) => thread.call('aggregate', [serving(), asked, signal !== undefined], signal),
    lastReceived: () => thread.call('lastReceived', [serving()]),
  };
  return { ...searcher, close: thread.close };
}
