/** What can be asked of the records: pages, counts, and what alert rules look at. */
import type { Filter } from '../../../domain/logs/filter.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import type { PlacedRecord } from '../../../domain/logs/record.js';
import { type Order, placeOf } from '../../../domain/logs/record-id.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { Searcher } from '../ports.js';
import type { Counts, Grouping } from './aggregate.js';
import { Abandoned, TimedOut } from './query-budget.js';
import { TooManyKeys } from './top-k-counter.js';
import { createVersionedMemo } from './versioned-memo.js';

/** A record as the contract shows it. */
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

export const entryOf = (record: PlacedRecord): Entry => ({
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
  detail: 'cursor is not one that was given out',
};

const TIMED_OUT: Rejection = {
  rejected: 'logs/query-timed-out',
  kind: 'unavailable',
  detail: 'The query took too long; narrow its time range or its filters',
};

const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-keys',
  kind: 'unavailable',
  detail: 'There are too many different values to count them; narrow the time range or the filters',
};

/** Nobody reads it. */
const ABANDONED: Rejection = { rejected: 'logs/query-abandoned', kind: 'unavailable' };

/** Pages and counts that are asked for again before anything has changed, in bytes each. */
const ANSWERS_KEPT = 8 * 1024 * 1024;

export type LogQueries = ReturnType<typeof createLogQueries>;

/** The same as JSON text; `line` is the JSON text of the record itself. */
export function entryText(record: PlacedRecord, line: string): string {
  const { data: _, ...rest } = entryOf(record);
  return `${JSON.stringify(rest).slice(0, -1)},"data":${line}}`;
}

/** The signals say that whoever asks has gone. The same question of several is one piece of work. */
export function createLogQueries({
  searcher,
  budgetMs,
  version,
}: {
  readonly searcher: Searcher;
  /** How long a query may take there. */
  readonly budgetMs: number;
  /** Changes with the index, as far as this node knows. */
  readonly version: () => unknown;
}) {
  const kept = { version, limitBytes: ANSWERS_KEPT };
  const pages = createVersionedMemo({
    ...kept,
    name: 'logs.pages',
    sizeOf: (page: Uint8Array) => page.length,
  });
  const counts = createVersionedMemo({ ...kept, name: 'logs.counts', sizeOf: sizeOfCounts });

  return {
    /** A `Page` as JSON. */
    async page(query: PageQuery, signal?: AbortSignal): Promise<{ readonly json: Uint8Array } | Rejection> {
      const { cursor, ...asked } = query;
      const after = cursor === undefined ? undefined : placeOf(cursor);
      if (cursor !== undefined && !after) return BAD_CURSOR;
      const ask = (gone: AbortSignal) => searcher.page({ ...asked, ...(after && { after }) }, gone);
      return givenUp(pages.once(JSON.stringify(query), ask, signal).then((json) => ({ json })));
    },

    aggregate(filter: Filter, grouping: Grouping, limit: number, signal?: AbortSignal): Promise<Counts | Rejection> {
      const asked = { filter, grouping, limit };
      const ask = (gone: AbortSignal) => searcher.aggregate(asked, gone);
      return givenUp(counts.once(JSON.stringify(asked), ask, signal));
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

function givenUp<T>(answer: Promise<T>): Promise<T | Rejection> {
  return answer.catch((error) => {
    if (error instanceof TimedOut) return TIMED_OUT;
    if (error instanceof TooManyKeys) return TOO_MANY;
    if (error instanceof Abandoned) return ABANDONED;
    throw error;
  });
}

const sizeOfCounts = ({ buckets }: Counts) => buckets.reduce((sum, { key }) => sum + 2 * key.length + 100, 100);
