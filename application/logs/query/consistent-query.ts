/** Runs log queries with read-your-writes: waits for the caller's and this node's appends to be projected first. */
import type { Filter } from '../../../domain/logs/filter.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type Consistency } from '../../consistency/index.js';
import type { Position, ProjectionProgress } from '../../ports/index.js';
import type { Grouping } from './aggregate.js';
import type { LogQueries, PageQuery } from './query-service.js';

export interface ConsistentQueryPorts {
  readonly queries: Pick<LogQueries, 'page' | 'aggregate' | 'budgetMs'>;
  readonly projectionProgress: ProjectionProgress;
  /** Position of this node's last append that a query must reflect. */
  readonly latest: () => Position;
}

/** The caller: its results must reflect `seen`, and `signal` aborts when it disconnects. */
export interface Reader {
  readonly seen: Position | undefined;
  readonly signal: AbortSignal;
}

export type ConsistentLogQueries = ReturnType<typeof createConsistentLogQueries>;

export function createConsistentLogQueries({ queries, projectionProgress, latest }: ConsistentQueryPorts) {
  async function runConsistent<Found>(
    { seen: seenByCaller }: Reader,
    runQuery: () => Promise<Found | Rejection>,
  ): Promise<{ readonly found: Found; readonly reflected: Consistency } | Rejection> {
    const reflected = await awaitConsistent(projectionProgress, 'logs.records', { lastAppend: latest(), seenByCaller });
    const found = await runQuery();
    return isRejection(found) ? found : { found, reflected };
  }

  return {
    /** Milliseconds a query may take, besides the wait for consistency. */
    budgetMs: queries.budgetMs,
    page: (reader: Reader, query: PageQuery) => runConsistent(reader, () => queries.page(query, reader.signal)),
    aggregate: (reader: Reader, filter: Filter, grouping: Grouping, limit: number) =>
      runConsistent(reader, () => queries.aggregate(filter, grouping, limit, reader.signal)),
  };
}
