/** Queries on log records: pages, counts, and the figures alert rules need. */
import type { Filter } from '../../../domain/logs/filter.js';
import { badCursor, type Order, parseCursor } from '../../../domain/logs/record-id.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent, type Consistency } from '../../consistency/index.js';
import type { Position, ProjectionProgress } from '../../ports/index.js';
import type { Counts, Grouping } from './aggregate.js';
import { Abandoned, TimedOut } from './query-budget.js';
import type { Searcher } from './searcher.js';
import { TooManyKeys } from './top-k-counter.js';
import { createVersionedMemo } from './versioned-memo.js';

export interface PageQuery {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  readonly cursor?: string;
}

const TIMED_OUT: Rejection = {
  rejected: 'logs/query-timed-out',
  kind: 'unavailable',
  detail: 'The query took too long; narrow its time range or its filters',
};

const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-keys',
  kind: 'unavailable',
  detail: 'There are too many distinct values to count; narrow the time range or the filters',
};

/** Never sent: the caller has disconnected. */
const ABANDONED: Rejection = { rejected: 'logs/query-abandoned', kind: 'unavailable' };

/** Bytes cached of pages, and of counts, until the index changes. */
const CACHE_BYTES = 8 * 1024 * 1024;

export type LogQueries = ReturnType<typeof createLogQueries>;

/** Signals abort when the caller disconnects. Equal concurrent queries run once. */
export function createLogQueries({
  searcher,
  budgetMs,
  version,
}: {
  readonly searcher: Searcher;
  /** Milliseconds a query may take in the searcher. */
  readonly budgetMs: number;
  /** Changes with the index, as far as this node knows. */
  readonly version: () => unknown;
}) {
  const memoOptions = { version, limitBytes: CACHE_BYTES };
  const pages = createVersionedMemo({
    ...memoOptions,
    name: 'logs.pages',
    sizeOf: (page: Uint8Array) => page.length,
  });
  const counts = createVersionedMemo({ ...memoOptions, name: 'logs.counts', sizeOf: sizeOfCounts });

  return {
    /** A `Page` as JSON. */
    async page(query: PageQuery, signal?: AbortSignal): Promise<{ readonly json: Uint8Array } | Rejection> {
      const { cursor, ...request } = query;
      const after = cursor === undefined ? undefined : parseCursor(cursor);
      if (cursor !== undefined && !after) return badCursor;
      const run = (stopped: AbortSignal) => searcher.page({ ...request, after }, stopped);
      return toRejection(pages.get(JSON.stringify(query), run, signal).then((json) => ({ json })));
    },

    aggregate(filter: Filter, grouping: Grouping, limit: number, signal?: AbortSignal): Promise<Counts | Rejection> {
      const request = { filter, grouping, limit };
      const run = (stopped: AbortSignal) => searcher.aggregate(request, stopped);
      return toRejection(counts.get(JSON.stringify(request), run, signal));
    },

    /** Records of level ERROR or FATAL with their instant in [from, to], Unix ms. */
    async errorsBetween(from: number, to: number): Promise<number> {
      const filter = { from, to, levels: ['ERROR', 'FATAL'], fields: [], words: [] };
      return (await searcher.aggregate({ filter, grouping: { by: 'level' }, limit: 1 })).total;
    },

    budgetMs,
    lastRecordAt: () => searcher.lastReceived(),
    caches: [pages.cache, counts.cache],
  };
}

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

/** Creates queries with read-your-writes: they wait for the caller's and this node's appends to be projected first. */
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

function toRejection<T>(result: Promise<T>): Promise<T | Rejection> {
  return result.catch((error) => {
    if (error instanceof TimedOut) return TIMED_OUT;
    if (error instanceof TooManyKeys) return TOO_MANY;
    if (error instanceof Abandoned) return ABANDONED;
    throw error;
  });
}

const sizeOfCounts = ({ buckets }: Counts) => buckets.reduce((sum, { key }) => sum + 2 * key.length + 100, 100);
