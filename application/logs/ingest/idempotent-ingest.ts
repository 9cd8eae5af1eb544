/** Requests with an `Idempotency-Key`: each in streams of its own, so that the store says who was first, for ever. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type RecordsIngested,
  type RecordText,
  type RequestReceipt,
  requestBatches,
} from '../../../domain/logs/batch.js';
import { bucketSubject, type EndedDays, requestStream } from '../../../domain/logs/retention-bucket.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type EventOrigin, isEvent, keyReused, newEvent, StreamEndedError } from '../../command/index.js';
import { RETRY_MS } from '../../concurrency/index.js';
import {
  type CommandContext,
  type EventLog,
  isTransient,
  type Position,
  UnavailableError,
  type Vault,
} from '../../ports/index.js';

export interface KeyedRequest {
  readonly producerId: string;
  readonly records: readonly RecordText[];
  /** What it is answered if it is the first. */
  readonly request: RequestReceipt;
  readonly ended: EndedDays;
}

export interface Stored {
  /** Of the first request with this key, like its time. */
  readonly request: RequestReceipt;
  readonly receivedAt: number;
  readonly position: Position;
  readonly repeated: boolean;
}

export interface RequestPorts {
  readonly log: EventLog;
  readonly vault: Vault;
  readonly origin: EventOrigin;
  /** Told of every append before anybody is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

const EXPIRED: Rejection = {
  rejected: 'logs/request-expired',
  kind: 'gone',
  detail: 'This Idempotency-Key was used before, and its records are no longer kept',
};
const ATTEMPTS = 10;

interface Run {
  readonly context: CommandContext;
  /** By the clock of `performance.now`. */
  readonly until: number;
}

/**
 * Stores a request, or finds it stored; what a crash left of it half done is completed. Rejects with `Unavailable`
 * when the log does not answer: the outcome is then unknown, and the same request again finds it out.
 */
export function createRequests({ log, vault, origin, appended }: RequestPorts) {
  return async function storeOnce(
    { request, ...given }: KeyedRequest,
    now: number,
    context: CommandContext,
  ): Promise<Stored | Rejection> {
    const stream = requestStream(context.commandId, false);
    const mine = requestBatches({ ...given, receivedAt: now }, request);
    const run = { context, until: performance.now() + RETRY_MS };
    // Fresh ids: what is taken is ours, and what is in the way is somebody else's.
    const begun = await fill(stream, mine.first, 0, run);
    if (begun === 'deleted') {
      await assertBegun(stream);
      return EXPIRED;
    }
    const found = begun === 'taken' ? await log.read(stream, { limit: 1 }) : 'missing';
    if (found === 'deleted') return EXPIRED;
    const first = found === 'missing' ? undefined : found[0];
    if (begun === 'taken' && !first) throw new UnavailableError(`${stream} is not to be read`);
    if (first && first.metadata.fingerprint !== context.fingerprint) return keyReused('logs');
    const told = first && isEvent<RecordsIngested>('RecordsIngested', first) ? first.data : undefined;
    const receivedAt = told?.receivedAt ?? now;
    const batches = told ? requestBatches({ ...given, receivedAt }, request) : mine;
    const positions = [
      begun === 'taken' ? await complete(stream, batches.first, run) : begun,
      await complete(requestStream(context.commandId, true), batches.audit, run, told ? undefined : 0),
    ];
    const answered = { request: told?.request ?? request, receivedAt };
    return { ...answered, position: lastOf(positions), repeated: first !== undefined };
  };

  /** Appends what is missing behind the first `there` events, or behind what is found there. */
  async function complete(
    stream: string,
    batches: readonly RecordsIngested[],
    run: Run,
    there?: number,
  ): Promise<Position> {
    if (batches.length === 0) return 0n;
    let known = there;
    for (let tried = 0; tried < ATTEMPTS; tried++) {
      if (known === undefined) {
        const found = await log.read(stream, { backwards: true, limit: 1 });
        // Its day is over, and so is its purpose.
        if (found === 'deleted') return 0n;
        const last = found === 'missing' ? undefined : found[0];
        known = last ? last.revision + 1 : 0;
        if (last && known >= batches.length) return last.position;
      }
      const done = await fill(stream, batches, known, run);
      if (done === 'deleted') {
        if (there === 0) await assertBegun(stream);
        return 0n;
      }
      if (done !== 'taken') return done;
      known = undefined;
    }
    throw new UnavailableError(`${stream} is written to by others`);
  }

  /** Where nothing has ever been, it is the day that is gone, by a clock ahead of ours: nothing was kept of a request. */
  async function assertBegun(stream: string): Promise<void> {
    const found = await log.read(stream, { limit: 1 });
    if (found === 'missing') throw new StreamEndedError(stream);
  }

  /** Appends the batches from an index on, one by one; `taken` when others stand where one should. */
  async function fill(
    stream: string,
    batches: readonly RecordsIngested[],
    from: number,
    { context, until }: Run,
  ): Promise<Position | 'taken' | 'deleted'> {
    let position = 0n;
    for (const [index, batch] of batches.entries()) {
      if (index < from) continue;
      await vault.create(bucketSubject(batch.data));
      const event = { ...newEvent(origin, stream, batch, index, context), id: randomUUID() };
      const done = await again(until, () => log.append(stream, index === 0 ? 'none' : index - 1, [event]));
      if (done.outcome === 'conflict') return 'taken';
      if (done.outcome === 'deleted') return 'deleted';
      position = done.position;
      appended(stream, position, 1);
    }
    return position;
  }
}

/** The same append again: a lost one is recognised by its id and its place. */
async function again<T>(until: number, call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (!isTransient(error) || tries === ATTEMPTS || performance.now() > until) throw error;
      await delay(Math.random() * 2.5 * 2 ** tries);
    }
  }
}

export function lastOf(positions: readonly Position[]): Position {
  let last = 0n;
  for (const position of positions) if (position > last) last = position;
  return last;
}
