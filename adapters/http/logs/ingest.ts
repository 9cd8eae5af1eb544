/** The route that takes records in (answers-logs, Ingest). */
import type { Ingest } from '../../../application/logs/ingest.js';
import { isRejection } from '../../../domain/shared/decider.js';
import type { Route } from '../route.js';
import type { LogCaller } from './admission.js';
import { receiptBody } from './schemas.js';

const BODY_BYTES = 8 * 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

export interface IngestRouteDeps {
  readonly ingest: Pick<Ingest, 'post'>;
  readonly admit: NonNullable<Route<LogCaller>['admit']>;
  readonly security: readonly string[];
}

export function ingestRoute({ ingest, admit, security }: IngestRouteDeps): Route {
  const route: Route<LogCaller, Buffer> = {
    method: 'POST',
    path: '/api/ingest',
    tags: ['Records'],
    summary: 'Send records',
    description:
      'NDJSON (one JSON object a line), a JSON array, `{"logs": [...]}` or one JSON object; up to 8 MiB, gzip ' +
      'accepted. 200 means flushed, and visible to the next query. A line that is no record is told and stops ' +
      'nothing. A record may be any JSON object of up to 64 KiB; understood of it are `timestamp` (or `time`, ' +
      '`@timestamp`, `ts`), `level` (or `severity`), `event`, `message` (or `msg`), `correlationId` (or ' +
      '`requestId`, `traceId`) and `audit`. A full queue is answered 429 with `Retry-After`.',
    security,
    rawBody: true,
    bodyLimit: BODY_BYTES,
    answers: {
      200: { description: 'What was taken', schema: receiptBody },
      400: { description: 'Announced as JSON, but it is none' },
      429: { description: 'Too much is waiting' },
    },
    admit,
    async handle({ body, headers, context }, { actor, producerId }) {
      const json = JSON_TYPE.test(headers['content-type'] ?? '');
      const done = await ingest.post(body.toString('utf8'), json, producerId, context(actor, producerId));
      if (isRejection(done)) return done;
      const { position, visible } = done.ingested;
      return {
        status: 200,
        body: done.receipt,
        ...(position > 0n && { position }),
        ...(visible ? {} : { consistency: 'pending' as const }),
      };
    },
  };
  return route as Route;
}
