/** Route that ingests records. */
import type { Ingest } from '../../../application/logs/ingest/ingest-records.js';
import type { BodyFormat } from '../../../application/logs/ingest/parse-body.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import type { LogCaller } from './admission.js';
import { receiptBody } from './schemas.js';

const BODY_BYTES = 8 * 1024 * 1024;
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;
const LINES_TYPE = /^(?:application\/(?:x-)?ndjson|text\/plain)\b/i;

/** Examples. API document viewers quote strings for media types with JSON in their name, so those get an object. */
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
      'Accepts NDJSON (one JSON object per line), a JSON array, `{"logs": [...]}` or one JSON object; up to 8 MiB ' +
      'and 50,000 records, optionally gzipped. 200 means stored durably and visible to the next query. Invalid lines are ' +
      'reported and the rest is stored. A record may be any JSON object of up to 64 KiB; recognised fields are ' +
      '`timestamp` (or `time`, `@timestamp`, `ts`), `level` (or `severity`), `event`, `message` (or `msg`), ' +
      '`correlationId` (or `requestId`, `traceId`) and `audit`. 429 with `Retry-After` means that the queue is full, ' +
      '408 that the body stalled or arrived at less than 4 KiB per second.',
    security,
    body: 'bytes',
    bodyTypes: ['application/x-ndjson', 'application/json', 'text/plain'],
    examples: { 'application/x-ndjson': RECORD, 'application/json': RECORD, 'text/plain': LINES },
    bodyLimit: BODY_BYTES,
    budget: ingest.bodies,
    answers: {
      200: { description: 'Number of accepted records, and errors by line', schema: receiptBody },
      400: { description: 'The body is not valid JSON, although its content type says so' },
      410: { description: 'The Idempotency-Key was used before, and its records have been deleted by retention' },
      413: { description: 'The body is larger than 8 MiB, or has more than 50,000 records' },
    },
    admit,
    callerKey: ({ actor }) => actor,
    async handle({ body, headers, context, signal }, { actor, producerId }) {
      const format = formatOf(headers['content-type'] ?? '');
      const text = body.toString('utf8');
      const outcome = await ingest.post(text, format, producerId, context(actor, producerId), signal);
      if (isRejection(outcome)) return outcome;
      const { position, visible } = outcome.ingested;
      return {
        status: 200,
        body: outcome.receipt,
        position: position > 0n ? position : undefined,
        consistency: visible ? undefined : 'pending',
      };
    },
  });
}

const formatOf = (type: string): BodyFormat =>
  JSON_TYPE.test(type) ? 'json' : LINES_TYPE.test(type) ? 'lines' : 'anything';
