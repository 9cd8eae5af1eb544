/** The routes that ask: pages of records, and counts of them. */
import type { Grouping } from '../../../application/logs/aggregate.js';
import type { LogQueries } from '../../../application/logs/queries.js';
import type { Position, Settled } from '../../../application/ports.js';
import { reflecting } from '../../../application/reflecting.js';
import { REQUEST_MS } from '../../../application/within.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import type { DataOf } from '../../../domain/shared/schema.js';
import type { Answer, Reply } from '../kernel/answer.js';
import { JSON_TYPE } from '../kernel/answer.js';
import { isProblem, type Problem, problem } from '../kernel/problem.js';
import { type Admit, type Request, type Route, route } from '../kernel/route.js';
import { listLimit } from '../kernel/validate.js';
import type { LogCaller } from './admission.js';
import { filterOf, filterProperties } from './filters.js';
import { aggregateBody, pageBody } from './schemas.js';

export interface QueryRouteDeps {
  readonly queries: Pick<LogQueries, 'page' | 'aggregate' | 'budgetMs'>;
  readonly settled: Settled;
  /** The last append of this node that a query must show. */
  readonly latest: () => Position;
  readonly admit: Admit<LogCaller>;
  readonly security: readonly string[];
}

const groupingProperties = {
  groupBy: { enum: ['level', 'event', 'field', 'correlation', 'time'] },
  groupField: { type: 'string', minLength: 1, maxLength: 1000 },
  interval: { type: 'string', default: '1h', description: '`1m` to `1d`: minutes, hours or a day' },
} as const;

type GroupingQuery = DataOf<{
  readonly type: 'object';
  readonly required: readonly ['groupBy'];
  readonly properties: typeof groupingProperties;
}>;

type Shown = Pick<Reply, 'body' | 'text' | 'headers'>;

const TAGS = ['Records'];
/** Beside its budget, a query may wait for what it must show, and for its last call of a store. */
const SETTLING_MS = REQUEST_MS;
const JSON_HEADERS = { 'Content-Type': JSON_TYPE };

export function queryRoutes(deps: QueryRouteDeps): readonly Route[] {
  const { queries, settled, latest, admit, security } = deps;
  // A query ends by its own budget, and says so; silent stores end it sooner.
  const answerMs = queries.budgetMs + SETTLING_MS;
  const common = { method: 'GET', tags: TAGS, admit, security, answerMs } as const;

  /** Reflects what this caller and this node have seen, or says that it does not yet. */
  async function answering({ ifPosition }: Request, ask: () => Promise<Shown | Rejection>): Promise<Answer> {
    const reflected = await reflecting(settled, 'logs.records', { told: latest(), seen: ifPosition });
    const shown = await ask();
    return isRejection(shown) ? shown : { status: 200, ...shown, ...reflected };
  }

  const list = route({
    ...common,
    path: '/api/logs',
    summary: 'Query records',
    description:
      'Newest first, or oldest first with `order=asc`; by instant, then id. All filters must hold. `nextCursor` ' +
      'is there when there is more; with it no record comes twice and none is missed, whatever is ingested ' +
      'meanwhile. A page that gets large ends before `limit`, with `hasMore`. A query over its time budget is ' +
      'answered 503.',
    query: {
      type: 'object',
      properties: {
        ...filterProperties,
        limit: listLimit({ initial: 100, max: 1000 }),
        cursor: { type: 'string', description: 'The `nextCursor` of the page before' },
        order: { enum: ['desc', 'asc'], default: 'desc' },
      },
    },
    answers: { 200: { description: 'A page of records', schema: pageBody } },
    async handle(request) {
      const { limit, cursor, order } = request.query;
      const filter = filterOf(request.query);
      if (isProblem(filter)) return filter;
      const query = { filter, order, limit, ...(cursor === undefined ? {} : { cursor }) };
      return answering(request, async () => {
        const page = await queries.page(query, request.signal);
        return isRejection(page) ? page : { text: page.json, headers: JSON_HEADERS };
      });
    },
  });

  const aggregate = route({
    ...common,
    path: '/api/logs/aggregate',
    summary: 'Count records',
    description:
      'Counts by level, event, field (`groupField`), correlation or time (`interval`, `1m` to `1d`), highest ' +
      'first. `total` is the number of records that pass; a record with several values of a field is in several ' +
      'buckets. Fewer buckets than `limit` come where their keys are very long; a query over its time budget, or ' +
      'over what can be counted at once, is answered 503.',
    query: {
      type: 'object',
      required: ['groupBy'],
      properties: {
        ...filterProperties,
        ...groupingProperties,
        limit: listLimit({ initial: 25, max: 1000 }),
      },
    },
    answers: { 200: { description: 'The largest buckets', schema: aggregateBody } },
    async handle(request) {
      const { groupBy, groupField, limit } = request.query;
      const filter = filterOf(request.query);
      if (isProblem(filter)) return filter;
      const grouping = groupingOf(request.query);
      if (isProblem(grouping)) return grouping;
      return answering(request, async () => {
        const counted = await queries.aggregate(filter, grouping, limit, request.signal);
        if (isRejection(counted)) return counted;
        return { body: { groupBy, ...(groupField && { groupField }), ...counted } };
      });
    },
  });

  return [list, aggregate];
}

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function groupingOf({ groupBy, groupField, interval }: GroupingQuery): Grouping | Problem {
  if (groupBy === 'field')
    return groupField === undefined
      ? problem(400, 'groupField is required')
      : { by: 'field', path: groupField };
  if (groupBy !== 'time') return { by: groupBy };
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(interval) ?? [];
  const intervalMs = Number(count) * (UNITS[unit] ?? Number.NaN);
  return intervalMs > 0 && intervalMs <= UNITS.d!
    ? { by: 'time', intervalMs }
    : problem(400, 'interval must be minutes, hours or a day: 1m to 1d');
}
