/** Records as a reader is shown them: what this node has appended, and what its caller has seen, is waited for first. */
import type { Filter } from '../../../domain/logs/filter.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type Consistency } from '../../consistency/index.js';
import type { Position, ProjectionProgress } from '../../ports/index.js';
import type { Grouping } from './aggregate.js';
import type { LogQueries, PageQuery } from './query-service.js';

export interface ReadingPorts {
  readonly queries: Pick<LogQueries, 'page' | 'aggregate' | 'budgetMs'>;
  readonly settled: ProjectionProgress;
  /** The last append of this node that a query must show. */
  readonly latest: () => Position;
}

/** Who reads: what they have seen is reflected, and the signal says that they have gone. */
export interface Reader {
  readonly seen: Position | undefined;
  readonly signal: AbortSignal;
}

export type LogReading = ReturnType<typeof createLogReading>;

export function createLogReading({ queries, settled, latest }: ReadingPorts) {
  async function showing<Found>(
    { seen }: Reader,
    ask: () => Promise<Found | Rejection>,
  ): Promise<{ readonly found: Found; readonly reflected: Consistency } | Rejection> {
    const reflected = await awaitConsistent(settled, 'logs.records', { told: latest(), seen });
    const found = await ask();
    return isRejection(found) ? found : { found, reflected };
  }

  return {
    /** How long a query may take, ms, beside what it waits for. */
    budgetMs: queries.budgetMs,
    page: (reader: Reader, query: PageQuery) => showing(reader, () => queries.page(query, reader.signal)),
    aggregate: (reader: Reader, filter: Filter, grouping: Grouping, limit: number) =>
      showing(reader, () => queries.aggregate(filter, grouping, limit, reader.signal)),
  };
}
