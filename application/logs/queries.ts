/** What can be asked of the records: pages, counts, and what alert rules look at. */
import type { Filter } from '../../domain/logs/filter.js';
import type { JsonObject } from '../../domain/logs/json.js';
import { cursorOf, type Order, placeOf } from '../../domain/logs/place.js';
import type { PlacedRecord } from '../../domain/logs/record.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Clock } from '../ports.js';
import { type Aggregate, aggregate, type Grouping } from './aggregate.js';
import { createAsked } from './asked.js';
import type { RecordIndex } from './record-index.js';
import { search } from './search.js';

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
  kind: 'limit',
  detail: 'The query took too long; narrow its time range or its filters',
};

/** Pages and counts that are asked for again before anything has changed. */
const ANSWERS_KEPT = 50;

export type LogQueries = ReturnType<typeof createLogQueries>;

/** The same as JSON text; `line` is the JSON text of the record itself. */
export function entryText(record: PlacedRecord, line: string): string {
  const { data: _, ...rest } = entryOf(record);
  return `${JSON.stringify(rest).slice(0, -1)},"data":${line}}`;
}

/** `budgetMs`: how long a query may take. */
export function createLogQueries(ports: {
  readonly index: RecordIndex;
  readonly clock: Clock;
  readonly budgetMs: number;
  /** Changes with the index, as far as this node knows. */
  readonly version: () => unknown;
}) {
  const { index, clock, budgetMs, version } = ports;
  const asked = createAsked(version, ANSWERS_KEPT);

  async function withinBudget<T>(work: (check: () => void) => Promise<T>): Promise<T | Rejection> {
    const until = clock.now() + budgetMs;
    try {
      return await work(() => {
        if (clock.now() > until) throw new OverBudget();
      });
    } catch (error) {
      if (error instanceof OverBudget) return TIMED_OUT;
      throw error;
    }
  }

  return {
    /** A `Page` as JSON: most of it is kept ready. */
    async page(query: PageQuery): Promise<{ readonly json: Uint8Array } | Rejection> {
      const { filter, order, limit, cursor } = query;
      const after = cursor === undefined ? undefined : placeOf(cursor);
      if (cursor !== undefined && !after) return BAD_CURSOR;
      const answer = (check: () => void) =>
        asked.once(JSON.stringify(query), async () => {
          const found = await search(index, { filter, order, check, ...(after && { after }) }, limit + 1);
          const hasMore = found.length > limit;
          const entries = found.slice(0, limit).map(({ block, index: at }) => block.entry(at));
          const more = hasMore ? { nextCursor: cursorOf(found[limit - 1]!) } : {};
          const rest = JSON.stringify({ hasMore, limit, ...more } satisfies Omit<Page, 'entries'>);
          return { json: Buffer.from(`{"entries":[${entries.join()}],${rest.slice(1)}`) };
        });
      return withinBudget(answer);
    },

    aggregate: (filter: Filter, grouping: Grouping, limit: number): Promise<Aggregate | Rejection> =>
      withinBudget((check) =>
        asked.once(JSON.stringify([filter, grouping, limit]), () =>
          aggregate(index, { filter, grouping, check }, limit),
        ),
      ),

    /** Records of level ERROR or FATAL with their instant in [from, to], Unix ms. */
    async errorsBetween(from: number, to: number): Promise<number> {
      const filter = { from, to, levels: ['ERROR', 'FATAL'], fields: [], words: [] };
      return (await aggregate(index, { filter, grouping: { by: 'level' } }, 1)).total;
    },

    lastRecordAt: index.lastReceived,
  };
}

class OverBudget extends Error {
  override readonly name = 'OverBudget';
}
