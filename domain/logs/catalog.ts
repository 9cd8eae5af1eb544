/** All events of the log service. */
import { type Catalog, type EventOf, event, object, oneOf } from '../shared/index.js';
import { alertEvents } from './alert-events.js';
import { bucketSubject, keeping } from './retention-bucket.js';

const instant = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string', minLength: 1 } as const;

const rebuilt = {
  startedAt: instant,
  finishedAt: instant,
  recordsInserted: count,
  /** Were in the index before and are not any more: expired or erased meanwhile. */
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
          ...keeping.properties,
          count,
          receivedAt: instant,
          /** Lines of the request that were no records; said with its first batch. */
          rejected: count,
          secret: oneOf(object({ lines: { type: 'string' } }), object({ records: { type: 'array', minItems: 1 } })),
        },
        {
          /** How far a file was read: bytes of it that are in the log once this batch is; `id` is its identity. */
          source: object({ id: text, offset: count }),
          /** With the first event of a request that had an `Idempotency-Key`. */
          request: object({
            accepted: count,
            rejected: count,
            errors: { type: 'array', items: object({ line: count, error: text }) },
          }),
        },
      ),
      { sealed: { subject: bucketSubject, erased: { lines: '' }, large: true } },
    ),
    /** Records of days before these go, by their own instant or by their receipt. */
    RecordsExpired: event(object({ before: instant, auditBefore: instant })),
    BatchesErased: event(keeping, { erases: bucketSubject }),
    RebuildBegun: event(object({ id: text, startedAt: instant })),
    RebuildFinished: event(object({ id: text, ...rebuilt })),
  },
} as const satisfies Catalog;

type Logs = typeof catalog;

/** The events of the logs: all of them, or those that are named. */
export type LogsEvent<Type extends keyof Logs['events'] = keyof Logs['events']> = EventOf<Logs, Type>;
