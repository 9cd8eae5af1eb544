/** Stores requests with an `Idempotency-Key`: each has its own streams, so the log itself recognises repetitions. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createRequestBatches,
  type RecordsIngested,
  type RecordText,
  type RequestReceipt,
} from '../../../domain/logs/batch.js';
import { bucketSubject, type EndedDays, requestStream } from '../../../domain/logs/retention-bucket.js';
import type { Rejection } from '../../../domain/shared/index.js';
import {
  type EventOrigin,
  isEvent,
  type KernelPorts,
  keyReused,
  newEvent,
  StreamEndedError,
} from '../../command/index.js';
import { RETRY_MS } from '../../concurrency/index.js';
import { maxPosition } from '../../consistency/index.js';
import { type CommandContext, isTransient, type Position, UnavailableError } from '../../ports/index.js';

export interface IdempotentRequest {
  readonly producerId: string;
  readonly records: readonly RecordText[];
  readonly request: RequestReceipt;
  readonly ended: EndedDays;
}

export interface StoredRequest {
  /** Receipt of the first request with this key; `receivedAt` is its time. */
  readonly request: RequestReceipt;
  readonly receivedAt: number;
  readonly position: Position;
  readonly repeated: boolean;
}

export interface RequestPorts extends Pick<KernelPorts, 'log' | 'vault' | 'appended'> {
  readonly origin: EventOrigin;
}

const EXPIRED: Rejection = {
  rejected: 'logs/request-expired',
  kind: 'gone',
  detail: 'This Idempotency-Key was used before, and its records have been deleted by retention',
};
const ATTEMPTS = 10;

interface Run {
  readonly context: CommandContext;
  /** Deadline on the `performance.now` clock. */
  readonly deadline: number;
}

/**
 * Stores a request, or finds it stored; completes one that a crash left unfinished. Rejects with `UnavailableError`
 * when the log does not answer: the outcome is then unknown, and sending the same request again resolves it.
 */
export function createIdempotentIngest({ log, vault, origin, appended: onAppended }: RequestPorts) {
  return async function storeOnce(
    { request, ...input }: IdempotentRequest,
    now: number,
    context: CommandContext,
  ): Promise<StoredRequest | Rejection> {
    const stream = requestStream(context.commandId, false);
    const ownBatches = createRequestBatches({ ...input, receivedAt: now }, request);
    const run = { context, deadline: performance.now() + RETRY_MS };
    // Event ids are random, so an append that succeeds is ours and a conflict is another writer's.
    const firstAppend = await appendBatches(stream, ownBatches.first, 0, run);
    if (firstAppend === 'deleted') {
      await assertStreamExists(stream);
      return EXPIRED;
    }
    const found = firstAppend === 'taken' ? await log.read(stream, { limit: 1 }) : 'missing';
    if (found === 'deleted') return EXPIRED;
    const first = found === 'missing' ? undefined : found[0];
    if (firstAppend === 'taken' && !first) throw new UnavailableError(`cannot read ${stream}`);
    if (first && first.metadata.fingerprint !== context.fingerprint) return keyReused('logs');
    const stored = first && isEvent<RecordsIngested>('RecordsIngested', first) ? first.data : undefined;
    const receivedAt = stored?.receivedAt ?? now;
    const batches = stored ? createRequestBatches({ ...input, receivedAt }, request) : ownBatches;
    const positions = [
      firstAppend === 'taken' ? await complete(stream, batches.first, run) : firstAppend,
      await complete(requestStream(context.commandId, true), batches.audit, run, stored ? undefined : 0),
    ];
    const receipt = { request: stored?.request ?? request, receivedAt };
    return { ...receipt, position: positions.reduce(maxPosition), repeated: first !== undefined };
  };

  /** Appends the missing batches after the first `length` events, or after the stream's last event. */
  async function complete(
    stream: string,
    batches: readonly RecordsIngested[],
    run: Run,
    length?: number,
  ): Promise<Position> {
    if (batches.length === 0) return 0n;
    let nextIndex = length;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (nextIndex === undefined) {
        const found = await log.read(stream, { backwards: true, limit: 1 });
        // Retention has deleted the stream; nothing is left to complete.
        if (found === 'deleted') return 0n;
        const last = found === 'missing' ? undefined : found[0];
        nextIndex = last ? last.revision + 1 : 0;
        if (last && nextIndex >= batches.length) return last.position;
      }
      const result = await appendBatches(stream, batches, nextIndex, run);
      if (result === 'deleted') {
        if (length === 0) await assertStreamExists(stream);
        return 0n;
      }
      if (result !== 'taken') return result;
      nextIndex = undefined;
    }
    throw new UnavailableError(`${stream} has concurrent writers`);
  }

  /** Throws if the stream never existed: then its day is closed (a clock ran ahead), and nothing was stored. */
  async function assertStreamExists(stream: string): Promise<void> {
    const found = await log.read(stream, { limit: 1 });
    if (found === 'missing') throw new StreamEndedError(stream);
  }

  async function appendBatches(
    stream: string,
    batches: readonly RecordsIngested[],
    from: number,
    { context, deadline }: Run,
  ): Promise<Position | 'taken' | 'deleted'> {
    let position = 0n;
    for (const [index, batch] of batches.entries()) {
      if (index < from) continue;
      await vault.create(bucketSubject(batch.data));
      const event = { ...newEvent(origin, stream, batch, index, context), id: randomUUID() };
      const result = await retryAppend(deadline, () => log.append(stream, index === 0 ? 'none' : index - 1, [event]));
      if (result.outcome === 'conflict') return 'taken';
      if (result.outcome === 'deleted') return 'deleted';
      position = result.position;
      onAppended(stream, position, 1);
    }
    return position;
  }
}

/** Retries an append: the store recognises a repetition by event id and revision. */
async function retryAppend<T>(deadline: number, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || attempt === ATTEMPTS || performance.now() > deadline) throw error;
      await delay(Math.random() * 2.5 * 2 ** attempt);
    }
  }
}
