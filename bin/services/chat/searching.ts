/** Composes message search of the chat. */
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { searchRoutes } from '../../../adapters/http/chat/search.js';
import type { Metrics } from '../../../adapters/platform/observability/metrics.js';
import { createSearch } from '../../../application/chat/search/search-messages.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import { search as searchRows } from '../../../projections/chat/search/projection.js';
import { createSearchIndex } from '../../../projections/chat/search/reader.js';
import type { Kernel } from '../../node/kernel.js';

export const searchProjections = [searchRows];

/** How long the index may take to catch up with the log at the start. */
const CATCH_UP_MS = 60_000;

export interface SearchingContext {
  readonly kernel: Kernel;
  readonly admission: Authentication;
  readonly guards: AuthGuards;
  readonly metrics: Pick<Metrics, 'cache'>;
}

export function createSearching({ kernel, admission, guards, metrics }: SearchingContext) {
  const { mongo, vault, served, projectionProgress } = kernel;
  const index = createSearchIndex({
    db: mongo.models,
    vault,
    build: served.collectionOf(searchRows.name),
    projectionProgress,
  });
  for (const cache of index.caches) metrics.cache(cache);
  return {
    routes: searchRoutes({ guards, search: createSearch({ index, projectionProgress, admission }) }),
    /** Preloads the index once it has caught up; otherwise the first searches load what they need. */
    async prepare() {
      if (await projectionProgress.wait(searchRows.name, 0n, CATCH_UP_MS)) await index.prepare();
    },
  };
}
