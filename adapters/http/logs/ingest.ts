/** The route that takes records in. */
import type { Ingest } from '../../../application/logs/ingest/ingest-records.js';
import type { BodyFormat } from '../../../application/logs/ingest/parse-body.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import type { LogCaller } from './admission.js';
import { receiptBody } from './schemas.js';

const BODY_BYTES = 8 * 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const LINES_TYPE = /^(?:application\/(?:x-)?ndjson|text\/plain)\b/i;

/** For people to begin with. Readers of the document quote what is a text of a type that has JSON in its name. */
const RECORD = { level: 'error', event: 'payment.failed', message: 'Card was declined' };
const LINES =
  '{"level":"info","message":"Hello"}\n' +
  '{"level":"error","event":"payment.failed","message":"Card was declined","user":{"id":42}}\n';

export interface IngestRouteDeps {
  readonly ingest: Pick<Ingest, 'post' | 'bodies'>;
  readonly admit: Admit<LogCaller>;
  readonly security: readonly string[];
}

export function ingestRoute({ ingest, admit, security }: IngestRouteDeps): Route {
  return route({
    method: 'POST',
    path: '/api/ingest',
    tags: ['Records'],
    summary: 'Send records',
    description:
      'NDJSON (one JSON object a line), a JSON array, `{"logs": [...]}` or one JSON object; up to 8 MiB and 50,000 records, ' +
      'gzip accepted. 200 means flushed, and visible to the next query. A line that is no record is told and stops ' +
      'nothing. A record may be any JSON object of up to 64 KiB; understood of it are `timestamp` (or `time`, ' +
      '`@timestamp`, `ts`), `level` (or `severity`), `event`, `message` (or `msg`), `correlationId` (or ' +
      '`requestId`, `traceId`) and `audit`. A full queue is answered 429 with `Retry-After`, ' +
      'and a body that stalls, or comes at less than 4 KiB a second, 408.',
    security,
    body: 'bytes',
    bodyTypes: ['application/x-ndjson', 'application/json', 'text/plain'],
    examples: {
      'application/x-ndjson': RECORD,
      'application/json': RECORD,
      'text/plain': LINES,
    },
    bodyLimit: BODY_BYTES,
    budget: ingest.bodies,
    answers: {
      200: { description: 'What was taken', schema: receiptBody },
      400: { description: 'Announced as JSON, but it is none' },
      410: { description: 'The Idempotency-Key was used before, and its records are no longer kept' },
      413: { description: 'The body is larger than 8 MiB, or has more than 50,000 records' },
    },
    admit,
    nameOf: ({ actor }) => actor,
    async handle({ body, headers, context, signal }, { actor, producerId }) {
      const announced = announcedAs(headers['content-type'] ?? '');
      const text = body.toString('utf8');
      const done = await ingest.post(text, announced, producerId, context(actor, producerId), signal);
      if (isRejection(done)) return done;
      const { position, visible } = done.ingested;
      return {
        status: 200,
        body: done.receipt,
        ...(position > 0n && { position }),
        ...(visible ? {} : { consistency: 'pending' as const }),
      };
    },
  });
}

const announcedAs = (type: string): BodyFormat =>
  JSON_TYPE.test(type) ? 'json' : LINES_TYPE.test(type) ? 'lines' : 'anything';
