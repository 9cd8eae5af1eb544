/** Queries on log records: pages, counts, and the figures alert rules need. */
import type { Filter } from '../../../domain/logs/filter.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import type { IdentifiedRecord } from '../../../domain/logs/record.js';
import { type Order, parseCursor } from '../../../domain/logs/record-id.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { Searcher } from '../ports.js';
import type { Counts, Grouping } from './aggregate.js';
import { Abandoned, TimedOut } from './query-budget.js';
import { TooManyKeys } from './top-k-counter.js';
import { createVersionedMemo } from './versioned-memo.js';

/** A record as the API returns it. */
export interface Entry {
  readonly id: string;
  readonly timestamp: string;
  readonly level: string;
  readonly event: string | null;
  readonly message: string;
  readonly producerId: string;
  readonly correlationId: string | null;
  readonly data: JsonObject;
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly hasMore: boolean;
  readonly limit: number;
  readonly nextCursor?: string;
}

export interface PageQuery {
  readonly filter: Filter;
  readonly order: Order;
  readonly limit: number;
  readonly cursor?: string;
}

export const entryOf = (record: IdentifiedRecord): Entry => ({
  id: record.id,
  timestamp: new Date(record.instant).toISOString(),
  level: record.level,
  event: record.event ?? null,
  message: record.message,
  producerId: record.producerId,
  correlationId: record.correlationId ?? null,
  data: record.data,
});

const BAD_CURSOR: Rejection = {
  rejected: 'logs/bad-cursor',
  kind: 'invalid',
  detail: 'cursor is not valid; use a nextCursor of an earlier response',
};

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

/** An `Entry` as JSON text; `line` is the JSON text of the record itself. */
export function entryText(record: IdentifiedRecord, line: string): string {
  const { data: _, ...rest } = entryOf(record);
  return `${JSON.stringify(rest).slice(0, -1)},"data":${line}}`;
}

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
      if (cursor !== undefined && !after) return BAD_CURSOR;
      const run = (stopped: AbortSignal) => searcher.page({ ...request, ...(after && { after }) }, stopped);
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

function toRejection<T>(result: Promise<T>): Promise<T | Rejection> {
  return result.catch((error) => {
    if (error instanceof TimedOut) return TIMED_OUT;
    if (error instanceof TooManyKeys) return TOO_MANY;
    if (error instanceof Abandoned) return ABANDONED;
    throw error;
  });
}

const sizeOfCounts = ({ buckets }: Counts) => buckets.reduce((sum, { key }) => sum + 2 * key.length + 100, 100);
