/** Response schemas of the log routes. */
import { object, type Schema } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const count = { type: 'integer' } as const;
const instant = { type: 'string', format: 'date-time' } as const;

const list = <const Item extends Schema>(items: Item) => ({ type: 'array', items }) as const;

export const entry = object({
  id: text,
  timestamp: instant,
  level: text,
  event: { type: ['string', 'null'] },
  message: text,
  producerId: text,
  correlationId: { type: ['string', 'null'] },
  data: { type: 'object', description: 'The record as received' },
});

export const pageBody = object(
  { entries: list(entry), hasMore: { type: 'boolean' }, limit: count },
  { nextCursor: text },
);

export const aggregateBody = object(
  { groupBy: text, buckets: list(object({ key: text, count })), total: count },
  { groupField: text },
);

export const receiptBody = object({
  accepted: count,
  rejected: count,
  queued: { const: false },
  producerId: text,
  receivedAt: instant,
  errors: list(object({ line: count, error: text })),
});

export const reindexReport = object({
  report: object({
    mode: { const: 'full' },
    recordsInserted: count,
    recordsSkipped: count,
    parseErrors: count,
    startedAt: instant,
    finishedAt: instant,
    durationMs: count,
  }),
  reset: object({ entriesDeleted: count }),
});

export const reindexProgress = object(
  { state: { enum: ['none', 'running', 'done', 'failed'] } },
  {
    id: text,
    startedAt: instant,
    events: count,
    position: text,
    until: text,
    error: text,
    ...reindexReport.properties,
  },
);

export const reindexRefused = object({ error: text, progress: reindexProgress });

const health = {
  ok: { type: 'boolean' },
  service: text,
  version: text,
  uptimeSec: count,
  runtime: { type: 'object' },
  storage: { type: 'object' },
  ingest: { type: 'object' },
  auth: { type: 'object' },
  alerting: { type: 'object' },
  alertPolicy: { type: 'object' },
  index: { type: 'object' },
} as const;

export const healthBody = object(health);
export const unhealthyBody = object({ error: text, ...health });
