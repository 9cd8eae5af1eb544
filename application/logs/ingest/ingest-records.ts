/** Ingests records: parses a body, appends encrypted batches, and answers once they are flushed and queryable. */
import { createBatches, type Ingestion, type RequestReceipt, type Source } from '../../../domain/logs/batch.js';
import { RETENTION_STREAM, retention } from '../../../domain/logs/retention.js';
import { batchStream, bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type Appender, type KernelPorts, newEvent, type PendingEvent, StreamEndedError } from '../../command/index.js';
import type { Budget } from '../../concurrency/index.js';
import { maxPosition } from '../../consistency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { Abandoned, untilAborted } from '../query/query-budget.js';
import { retentionAggregate } from '../retention/expire-records.js';
import { createIdempotentIngest } from './idempotent-ingest.js';
import { type BodyFormat, type LineError, MAX_RECORDS, parseBody } from './parse-body.js';

/** Bytes of all ingest: three bodies of the maximum size, or hundreds of usual ones. One caller may use two of them. */
export const INGEST_BYTES = 96 * 1024 * 1024;
/** Bytes of overhead of a record in memory. */
const RECORD_COST = 128;

export interface IngestPorts
  extends Pick<KernelPorts, 'log' | 'vault' | 'aggregates' | 'projectionProgress' | 'clock' | 'appended'> {
  readonly appender: Appender;
  readonly release: string;
  /** Bytes of all requests being ingested, including bodies still being received. */
  readonly budget: Budget;
}

export interface Receipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly queued: false;
  readonly producerId: string;
  readonly receivedAt: string;
  readonly errors: readonly LineError[];
}

export interface Ingested {
  readonly receivedAt: number;
  readonly position: Position;
  /** False if the index did not reach it within 2 s. */
  readonly visible: boolean;
}

const NOT_JSON: Rejection = {
  rejected: 'logs/not-json',
  kind: 'invalid',
  detail: 'The body must be a JSON object or an array of objects',
};
const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-records',
  kind: 'too-large',
  detail: `The request has more than ${MAX_RECORDS.toLocaleString('en')} records; split it`,
};
/** Never sent: the caller has disconnected. */
const ABANDONED: Rejection = { rejected: 'logs/request-abandoned', kind: 'unavailable' };
const FULL: Rejection = {
  rejected: 'logs/queue-full',
  kind: 'limit',
  detail: 'The ingest queue is full, try again in a moment',
  retryAfterMs: 1000,
};

export type Records = Omit<Ingestion, 'receivedAt' | 'ended'> & { readonly source: Source };

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest(ports: IngestPorts) {
  const { log, appender, vault, aggregates, projectionProgress, clock, release, budget, appended } = ports;
  const origin = { service: 'logs', release };
  const storeOnce = createIdempotentIngest({ log, vault, origin, appended });
  const totals = { accepted: 0, rejected: 0 };
  let latest: Position = 0n;
  /** Closed days, reloaded when an append meets a deleted stream. */
  let ended = retention.initialState;

  /**
   * Ingests a posted body; its own bytes are already in the budget. With a fingerprint, a repeated request gets the
   * first receipt, byte for byte, and stores nothing. Stores nothing more once the signal aborts. Rejects with
   * `UnavailableError` like any append.
   */
  async function post(
    text: string,
    format: BodyFormat,
    producerId: string,
    context: CommandContext,
    signal?: AbortSignal,
  ): Promise<{ readonly receipt: Receipt; readonly ingested: Ingested } | Rejection> {
    const body = await parseBody(text, format, producerId, untilAborted(signal)).catch(abortedOrThrow);
    if (body === 'not-json') return NOT_JSON;
    if (body === 'too-many') return TOO_MANY;
    // Without an answer the caller will send it again.
    if (body === 'abandoned' || signal?.aborted) return ABANDONED;
    const { records, rejected, errors } = body;
    const reservation = budget.reserve();
    if (reservation.acquire(records.length * RECORD_COST)) return FULL;
    try {
      const request: RequestReceipt = { accepted: records.length, rejected, errors };
      const now = clock.now();
      const storage = context.fingerprint
        ? storeOnce({ producerId, records, request, ended }, now, context)
        : store({ producerId, records, rejected, receivedAt: now, ended }, context).then((result) => ({
            ...result,
            request,
            repeated: false,
          }));
      const stored = await storage.catch(reloadClosedDays);
      if (isRejection(stored)) return stored;
      const { request: original, receivedAt, position } = stored;
      if (!stored.repeated) count(original);
      const ingested = { receivedAt, position, visible: await waitUntilIndexed(position) };
      const receipt: Receipt = {
        accepted: original.accepted,
        rejected: original.rejected,
        queued: false,
        producerId,
        receivedAt: new Date(receivedAt).toISOString(),
        errors: original.errors,
      };
      return { receipt, ingested };
    } finally {
      reservation.release();
    }
  }

  /** Ingests records of a file; their event holds the new offset. */
  async function take(input: Records, context: CommandContext): Promise<Ingested | Rejection> {
    const cost = input.records.reduce((sum, { bytes }) => sum + bytes + RECORD_COST, 0);
    const reservation = budget.reserve();
    if (reservation.acquire(cost)) return FULL;
    try {
      const receivedAt = clock.now();
      const { position } = await store({ ...input, receivedAt, ended }, context).catch(reloadClosedDays);
      count({ accepted: input.records.length, rejected: input.rejected });
      return { receivedAt, position, visible: await waitUntilIndexed(position) };
    } finally {
      reservation.release();
    }
  }

  async function store(input: Ingestion, context: CommandContext) {
    const { receivedAt } = input;
    const batchesByStream = new Map<string, PendingEvent[]>();
    for (const [index, batch] of createBatches(input).entries()) {
      await vault.create(bucketSubject(batch.data));
      const stream = batchStream(batch.data, receivedAt);
      const waiting = {
        event: newEvent(origin, stream, batch, index, context),
        bytes: Buffer.byteLength(batch.data.secret.lines),
      };
      batchesByStream.set(stream, [...(batchesByStream.get(stream) ?? []), waiting]);
    }
    const positions = await Promise.all(
      Array.from(batchesByStream, ([stream, waiting]) => appender.append(stream, waiting)),
    );
    return { receivedAt, position: positions.reduce(maxPosition, 0n) };
  }

  /** Reloads the closed days, so that retries and later requests use a day that is still open. */
  async function reloadClosedDays(error: unknown): Promise<never> {
    if (error instanceof StreamEndedError)
      ended = (await aggregates.reload(retentionAggregate, RETENTION_STREAM)).state;
    throw error;
  }

  function count({ accepted, rejected }: Pick<RequestReceipt, 'accepted' | 'rejected'>) {
    totals.accepted += accepted;
    totals.rejected += rejected;
  }

  function waitUntilIndexed(position: Position): Promise<boolean> {
    latest = maxPosition(latest, position);
    return projectionProgress.wait('logs.records', position);
  }

  return {
    post,
    take,
    /** Budget that bodies count against while they are received. */
    bodies: budget,
    latest: () => latest,
    totals: () => ({ ...totals, waitingBytes: budget.used() }),
  };
}

function abortedOrThrow(error: unknown): 'abandoned' {
  if (error instanceof Abandoned) return 'abandoned';
  throw error;
}
