/** Event catalog of the log service. */
import { type Catalog, type EventOf, event, object } from '../shared/index.js';
import { alertEvents } from './alert-events.js';
import { bucketSubject, retentionBucket } from './retention-bucket.js';

const instant = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string', minLength: 1 } as const;

const rebuilt = {
  startedAt: instant,
  finishedAt: instant,
  recordsInserted: count,
  /** Records of the old index that are not in the new one: expired or erased meanwhile. */
  recordsSkipped: count,
  entriesDeleted: count,
} as const;

export const catalog = {
  service: 'logs',
  events: {
    ...alertEvents,
    RecordsIngested: event(
      object(
        {
          ...retentionBucket.properties,
          count,
          receivedAt: instant,
          /** Rejected lines of the request; counted in its first batch only. */
          rejected: count,
          /** NDJSON, each record as written by `stringifyExact`. */
          secret: object({ lines: { type: 'string' } }),
        },
        {
          /** Watched file: `id` is its identity, `offset` the bytes stored once this batch is. */
          source: object({ id: text, offset: count }),
          /** Receipt, in the first event of a request with an `Idempotency-Key`. */
          request: object({
            accepted: count,
            rejected: count,
            errors: { type: 'array', items: object({ line: count, error: text }) },
          }),
        },
      ),
      { sealed: { subject: bucketSubject, erased: { lines: '' }, large: true } },
    ),
    /** Cutoffs: records with a time or receipt on an earlier day expire. */
    RecordsExpired: event(object({ before: instant, auditBefore: instant })),
    BatchesErased: event(retentionBucket, { erases: bucketSubject }),
    RebuildBegun: event(object({ id: text, startedAt: instant })),
    RebuildFinished: event(object({ id: text, ...rebuilt })),
  },
} as const satisfies Catalog;

type Logs = typeof catalog;

export type LogsEvent<Type extends keyof Logs['events'] = keyof Logs['events']> = EventOf<Logs, Type>;
