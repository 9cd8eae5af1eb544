/** Routes that read records: pages, counts and the live tail. */
import { REQUEST_MS } from '../../../application/concurrency/index.js';
import type { Grouping } from '../../../application/logs/query/aggregate.js';
import type { LogQueries } from '../../../application/logs/query/query-service.js';
import { INTERVAL_FORMAT, parseInterval } from '../../../domain/logs/timestamp.js';
import { type DataOf, isRejection } from '../../../domain/shared/index.js';
import type { Tail } from '../../realtime/logs/log-tail.js';
import { JSON_TYPE } from '../server/answer.js';
import { isProblem, type Problem, problem } from '../server/policy.js';
import { type Admit, type Request, type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import type { LogCaller } from './admission.js';
import { filterOf, filterProperties } from './filters.js';
import { aggregateBody, pageBody } from './schemas.js';

export interface QueryRouteDeps {
  readonly queries: Pick<LogQueries, 'page' | 'aggregate' | 'budgetMs'>;
  readonly tail: Tail;
  readonly admit: Admit<LogCaller>;
  readonly security: readonly string[];
}

const groupingProperties = {
  groupBy: { enum: ['level', 'event', 'producer', 'field', 'correlation', 'time'] },
  groupField: { type: 'string', minLength: 1, maxLength: 1000 },
  interval: { type: 'string', default: '1h', description: '`1m` to `1d`: minutes, hours or a day' },
} as const;

type GroupingQuery = DataOf<{
  readonly type: 'object';
  readonly required: readonly ['groupBy'];
  readonly properties: typeof groupingProperties;
}>;

const TAGS = ['Records'];
/** Milliseconds a query may take beyond its budget, to wait for consistency and for its last store call. */
const SETTLING_MS = REQUEST_MS;
const JSON_HEADERS = { 'Content-Type': JSON_TYPE };

export function queryRoutes(deps: QueryRouteDeps): readonly Route[] {
  const { queries, tail, admit, security } = deps;
  // A query enforces its own budget with a proper error; failing stores end it sooner.
  const answerMs = queries.budgetMs + SETTLING_MS;
  const common = { method: 'GET', tags: TAGS, admit, security } as const;

  const list = route({
    ...common,
    answerMs,
    path: '/api/logs',
    summary: 'Query records',
    description:
      'Newest first, or oldest first with `order=asc`; sorted by time, then id. Filters are combined with AND. ' +
      '`nextCursor` is present if there are more; paging with it repeats and misses no record, even while records ' +
      'are ingested. A page of large records may end before `limit`, with `hasMore`. A query that exceeds its time ' +
      'budget gets 503.',
    query: {
      type: 'object',
      properties: {
        ...filterProperties,
        limit: listLimit({ initial: 100, max: 1000 }),
        cursor: { type: 'string', description: '`nextCursor` of the previous page' },
        order: { enum: ['desc', 'asc'], default: 'desc' },
      },
    },
    answers: { 200: { description: 'A page of records', schema: pageBody } },
    async handle(request) {
      const { limit, cursor, order } = request.query;
      const filter = filterOf(request.query);
      if (isProblem(filter)) return filter;
      const result = await queries.page(readerOf(request), { filter, order, limit, cursor });
      if (isRejection(result)) return result;
      return { status: 200, text: result.json, headers: JSON_HEADERS, ...result.reflected };
    },
  });

  const aggregate = route({
    ...common,
    answerMs,
    path: '/api/logs/aggregate',
    summary: 'Count records',
    description:
      'Counts by level, event, producer, field (`groupField`), correlation or time (`interval`, `1m` to `1d`), highest ' +
      'first. `total` is the number of matching records; a record with several values of a field counts in several ' +
      'buckets. Fewer than `limit` buckets are returned if their keys are very long. A query that exceeds its time ' +
      'budget, or has too many distinct values to count, gets 503.',
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
      const result = await queries.aggregate(readerOf(request), filter, grouping, limit);
      if (isRejection(result)) return result;
      const body = { groupBy, ...(groupField && { groupField }), ...result.counts };
      return { status: 200, body, ...result.reflected };
    },
  });

  const follow = route({
    ...common,
    path: '/api/logs/tail',
    summary: 'Follow new records, as server-sent events',
    description:
      'Each event is one record, in log order, filtered like `/api/logs`. Resume with `Last-Event-ID`, or start at ' +
      'the `Position` of a page (as `lastEventId`, so that nothing is missed even if the connection breaks before ' +
      'the first record). After too long a pause, one `{"type":"RESET"}` says that records were missed. An ' +
      'interrupted batch is sent again: use record ids to drop duplicates.',
    query: { type: 'object', properties: { ...filterProperties, lastEventId: { type: 'string' } } },
    answers: { 200: { description: 'The stream', type: 'text/event-stream' } },
    handle({ query, cursor }) {
      const filter = filterOf(query);
      if (isProblem(filter)) return filter;
      return { stream: (sink) => tail.connect(filter, cursor, sink) };
    },
  });

  return [list, aggregate, follow];
}

const readerOf = ({ ifPosition, signal }: Request) => ({ seen: ifPosition, signal });

function groupingOf({ groupBy, groupField, interval }: GroupingQuery): Grouping | Problem {
  if (groupBy === 'field')
    return groupField === undefined ? problem(400, 'groupField is required') : { by: 'field', path: groupField };
  if (groupBy !== 'time') return { by: groupBy };
  const intervalMs = parseInterval(interval);
  return intervalMs === undefined ? problem(400, `interval must be ${INTERVAL_FORMAT}`) : { by: 'time', intervalMs };
}
