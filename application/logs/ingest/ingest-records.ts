/** Takes records in: reads a body, seals its batches into the log, and answers when they are flushed and visible. */
import { batchesOf, type Ingestion, type RequestReceipt, type Source } from '../../../domain/logs/batch.js';
import { RETENTION_STREAM, retention } from '../../../domain/logs/retention.js';
import { batchStream, bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, type Appender, newEvent, StreamEndedError, type Waiting } from '../../command/index.js';
import type { Budget } from '../../concurrency/index.js';
import type { Clock, CommandContext, EventLog, Position, ProjectionProgress, Vault } from '../../ports/index.js';
import { Abandoned, untilAborted } from '../query/query-budget.js';
import { retentionKind } from '../retention/expire-records.js';
import { createRequests, lastOf } from './idempotent-ingest.js';
import { RECORD_COST } from './limits.js';
import { type Announced, type LineError, MOST_RECORDS, readBody } from './parse-body.js';

export interface IngestPorts {
  readonly log: EventLog;
  readonly appender: Appender;
  readonly vault: Vault;
  readonly streams: Pick<AggregateStore, 'reload'>;
  readonly settled: ProjectionProgress;
  readonly clock: Clock;
  readonly release: string;
  /** Of everything on its way in, bodies that are being read included. */
  readonly budget: Budget;
  /** Told of every append that the appender does not make, before anybody is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
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
  /** False when the index has not seen it within 2 s. */
  readonly visible: boolean;
}

const NOT_JSON: Rejection = {
  rejected: 'logs/not-json',
  kind: 'invalid',
  detail: 'The body is not a valid JSON object, nor a list of them',
};
const TOO_MANY: Rejection = {
  rejected: 'logs/too-many-records',
  kind: 'too-large',
  detail: `There are more than ${MOST_RECORDS.toLocaleString('en')} records in the request`,
};
/** Nobody reads it. */
const ABANDONED: Rejection = { rejected: 'logs/request-abandoned', kind: 'unavailable' };
const FULL: Rejection = {
  rejected: 'logs/queue-full',
  kind: 'limit',
  detail: 'Too many records are waiting, try again in a moment',
  retryAfterMs: 1000,
};

/** Records from elsewhere than a request, with how far their file was read. */
export type Records = Omit<Ingestion, 'receivedAt' | 'ended'> & { readonly source: Source };

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest(ports: IngestPorts) {
  const { log, appender, vault, streams, settled, clock, release, budget, appended } = ports;
  const origin = { service: 'logs', release };
  const requests = createRequests({ log, vault, origin, appended });
  /** Since this process began. */
  const totals = { accepted: 0, rejected: 0 };
  let latest: Position = 0n;
  /** As it was when a day turned out to be one of these. */
  let ended = retention.initialState;

  /**
   * A posted body, whose own bytes are counted already. With a fingerprint, a request that was answered
   * before gets that answer again, to the byte, and puts nothing twice. Of a caller who has gone, by the signal,
   * nothing is stored that is not yet. Rejects with `Unavailable` like any append.
   */
  async function post(
    text: string,
    announced: Announced,
    producerId: string,
    context: CommandContext,
    signal?: AbortSignal,
  ): Promise<{ readonly receipt: Receipt; readonly ingested: Ingested } | Rejection> {
    const body = await readBody(text, announced, producerId, untilAborted(signal)).catch(abandoned);
    if (body === 'not-json') return NOT_JSON;
    if (body === 'too-many') return TOO_MANY;
    // Whoever has not been answered sends it again.
    if (body === 'abandoned' || signal?.aborted) return ABANDONED;
    const { records, rejected, errors } = body;
    const held = budget.reserve();
    if (held.acquire(records.length * RECORD_COST)) return FULL;
    try {
      const request: RequestReceipt = { accepted: records.length, rejected, errors };
      const now = clock.now();
      const storing = context.fingerprint
        ? requests({ producerId, records, request, ended }, now, context)
        : store({ producerId, records, rejected, receivedAt: now, ended }, context).then((done) => ({
            ...done,
            request,
            repeated: false,
          }));
      const stored = await storing.catch(lookAtEnded);
      if (isRejection(stored)) return stored;
      const { request: told, receivedAt, position } = stored;
      if (!stored.repeated) count(told);
      const ingested = { receivedAt, position, visible: await seen(position) };
      const receipt: Receipt = {
        accepted: told.accepted,
        rejected: told.rejected,
        queued: false,
        producerId,
        receivedAt: new Date(receivedAt).toISOString(),
        errors: told.errors,
      };
      return { receipt, ingested };
    } finally {
      held.release();
    }
  }

  /** The records of a piece of a file, under an offset that says so. */
  async function take(given: Records, context: CommandContext): Promise<Ingested | Rejection> {
    const cost = given.records.reduce((sum, { bytes }) => sum + bytes + RECORD_COST, 0);
    const held = budget.reserve();
    if (held.acquire(cost)) return FULL;
    try {
      const receivedAt = clock.now();
      const { position } = await store({ ...given, receivedAt, ended }, context).catch(lookAtEnded);
      count({ accepted: given.records.length, rejected: given.rejected });
      return { receivedAt, position, visible: await seen(position) };
    } finally {
      held.release();
    }
  }

  async function store(given: Ingestion, context: CommandContext) {
    const { receivedAt } = given;
    const lines = new Map<string, Waiting[]>();
    for (const [index, batch] of batchesOf(given).entries()) {
      await vault.create(bucketSubject(batch.data));
      const stream = batchStream(batch.data, receivedAt);
      const waiting = {
        event: newEvent(origin, stream, batch, index, context),
        bytes: sizeOf(batch.data.secret),
      };
      lines.set(stream, [...(lines.get(stream) ?? []), waiting]);
    }
    const positions = await Promise.all(Array.from(lines, ([stream, waiting]) => appender.append(stream, waiting)));
    return { receivedAt, position: lastOf(positions) };
  }

  /** What is sent again, and all that comes after, is then kept with a day that goes on. */
  async function lookAtEnded(error: unknown): Promise<never> {
    if (error instanceof StreamEndedError) ended = (await streams.reload(retentionKind, RETENTION_STREAM)).state;
    throw error;
  }

  function count({ accepted, rejected }: Pick<RequestReceipt, 'accepted' | 'rejected'>) {
    totals.accepted += accepted;
    totals.rejected += rejected;
  }

  function seen(position: Position): Promise<boolean> {
    if (position > latest) latest = position;
    return settled.wait('logs.records', position);
  }

  return {
    post,
    take,
    /** What bodies count towards from the moment they are read. */
    bodies: budget,
    /** The last append: what a query on this node must show. */
    latest: () => latest,
    totals: () => ({ ...totals, waitingBytes: budget.used() }),
  };
}

function abandoned(error: unknown): 'abandoned' {
  if (error instanceof Abandoned) return 'abandoned';
  throw error;
}

const sizeOf = (secret: object) => Buffer.byteLength('lines' in secret ? String(secret.lines) : '');
