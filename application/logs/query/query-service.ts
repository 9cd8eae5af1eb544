/** Queries on log records: pages, counts, and the figures alert rules need. */
import { EVERYTHING, type Filter } from '../../../domain/logs/filter.js';
import { badCursor, type Order, parseCursor } from '../../../domain/logs/record-id.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { awaitConsistent } from '../../consistency/index.js';
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

/** The caller: its results must reflect `seen`, and `signal` aborts when it disconnects. */
export interface Reader {
  readonly seen: Position | undefined;
  readonly signal: AbortSignal | undefined;
}

export type LogQueries = ReturnType<typeof createLogQueries>;

/**
 * Creates queries with read-your-writes: pages and counts wait for the caller's and this node's appends to be projected
 * first. Equal concurrent queries run once.
 */
export function createLogQueries({
  searcher,
  budgetMs,
  version,
  projectionProgress,
  latest,
}: {
  readonly searcher: Searcher;
  /** Milliseconds a query may take in the searcher, besides the wait for consistency. */
  readonly budgetMs: number;
  /** Changes with the index, as far as this node knows. */
  readonly version: () => unknown;
  readonly projectionProgress: ProjectionProgress;
  /** Position of this node's last append that a query must reflect. */
  readonly latest: () => Position;
}) {
  const memoOptions = { version, limitBytes: CACHE_BYTES };
  const pages = createVersionedMemo({
    ...memoOptions,
    name: 'logs.pages',
    sizeOf: (page: Uint8Array) => page.length,
  });
  const counts = createVersionedMemo({ ...memoOptions, name: 'logs.counts', sizeOf: sizeOfCounts });
  const awaitRecords = (seenByCaller: Position | undefined) =>
    awaitConsistent(projectionProgress, 'logs.records', { lastAppend: latest(), seenByCaller });

  return {
    /** A `Page` as JSON. */
    async page({ seen, signal }: Reader, query: PageQuery) {
      const { cursor, ...request } = query;
      const after = cursor === undefined ? undefined : parseCursor(cursor);
      if (cursor !== undefined && !after) return badCursor;
      const reflected = await awaitRecords(seen);
      const run = (stopped: AbortSignal) => searcher.page({ ...request, after }, stopped);
      const json = await toRejection(pages.get(JSON.stringify(query), run, signal));
      return isRejection(json) ? json : { json, reflected };
    },

    async aggregate({ seen, signal }: Reader, filter: Filter, grouping: Grouping, limit: number) {
      const request = { filter, grouping, limit };
      const reflected = await awaitRecords(seen);
      const run = (stopped: AbortSignal) => searcher.aggregate(request, stopped);
      const found = await toRejection(counts.get(JSON.stringify(request), run, signal));
      return isRejection(found) ? found : { counts: found, reflected };
    },

    /** Number of records in the index. */
    async count(): Promise<number> {
      return (await searcher.aggregate({ filter: EVERYTHING, grouping: { by: 'producer' }, limit: 1 })).total;
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

function toRejection<T>(result: Promise<T>): Promise<T | Rejection> {
  return result.catch((error) => {
    if (error instanceof TimedOut) return TIMED_OUT;
    if (error instanceof TooManyKeys) return TOO_MANY;
    if (error instanceof Abandoned) return ABANDONED;
    throw error;
  });
}

const sizeOfCounts = ({ buckets }: Counts) => buckets.reduce((sum, { key }) => sum + 2 * key.length + 100, 100);
