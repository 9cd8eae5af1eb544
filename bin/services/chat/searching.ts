/** Searching what was said, put together. */
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { searchRoutes } from '../../../adapters/http/chat/search.js';
import type { Metrics } from '../../../adapters/platform/observability/metrics.js';
import { createSearch } from '../../../application/chat/search/search-messages.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import { search as searchRows } from '../../../projections/chat/search/projection.js';
import { createSearchIndex } from '../../../projections/chat/search/reader.js';
import type { Kernel } from '../../node/kernel.js';

export const searchProjections = [searchRows];

/** How long the index may take to come to where the log was at the start. */
const PREPARING_MS = 60_000;

export interface SearchingContext {
  readonly kernel: Kernel;
  readonly admission: Authentication;
  readonly doors: AuthGuards;
  readonly metrics: Pick<Metrics, 'cache'>;
}

export function createSearching({ kernel, admission, doors, metrics }: SearchingContext) {
  const { mongo, vault, served, settled } = kernel;
  const index = createSearchIndex({
    db: mongo.models,
    vault,
    build: () => served.collection(searchRows.name),
    position: () => settled.position(searchRows.name),
  });
  for (const cache of index.caches) metrics.cache(cache);
  return {
    routes: searchRoutes({ doors, search: createSearch({ index, settled, admission }) }),
    /** Once the index shows what was there before; where it never does, searches read for themselves. */
    async prepare() {
      if (await settled.wait(searchRows.name, 0n, PREPARING_MS)) await index.prepare();
    },
  };
}
