/** What the log routes answer, for the documents. */
import type { JsonSchema } from '../../../domain/shared/catalog.js';

const text = { type: 'string' } as const;
const count = { type: 'integer' } as const;
const instant = { type: 'string', format: 'date-time' } as const;

const object = (
  properties: { [name: string]: JsonSchema },
  optional: readonly string[] = [],
): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
});

const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items });

export const entry = object({
  id: text,
  timestamp: instant,
  level: text,
  event: { type: ['string', 'null'] },
  message: text,
  producerId: text,
  correlationId: { type: ['string', 'null'] },
  data: { type: 'object', description: 'The record as it came' },
});

export const pageBody = object(
  { entries: list(entry), hasMore: { type: 'boolean' }, limit: count, nextCursor: text },
  ['nextCursor'],
);

export const aggregateBody = object(
  { groupBy: text, groupField: text, buckets: list(object({ key: text, count })), total: count },
  ['groupField'],
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
  {
    id: text,
    state: { enum: ['none', 'running', 'done', 'failed'] },
    startedAt: instant,
    events: count,
    position: text,
    until: text,
    error: text,
    ...(reindexReport.properties as { [name: string]: JsonSchema }),
  },
  ['id', 'startedAt', 'events', 'position', 'until', 'error', 'report', 'reset'],
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
