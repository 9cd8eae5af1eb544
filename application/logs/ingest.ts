/** Takes records in: reads a body, seals its batches into the log, and answers when they are flushed and visible. */
import {
  batchesOf,
  batchStream,
  type Ingestion,
  keepingSubject,
  type Source,
} from '../../domain/logs/batch.js';
import type { Rejection } from '../../domain/shared/decider.js';
import { newEvent } from '../new-event.js';
import {
  type Clock,
  type CommandContext,
  type Position,
  type Settled,
  Unavailable,
  type Vault,
} from '../ports.js';
import type { Appender, Waiting } from './appender.js';
import { type LineError, type ReadRecord, readBody } from './body.js';

/** What became of a request with an `Idempotency-Key`. */
export interface EarlierRequest {
  readonly fingerprint: string;
  readonly receivedAt: number;
  /** Ids of the events that hold its records. */
  readonly batches: readonly string[];
  readonly position: Position;
}

export interface IngestPorts {
  readonly appender: Appender;
  readonly vault: Vault;
  readonly settled: Settled;
  readonly clock: Clock;
  readonly release: string;
  readonly earlier: (commandId: string) => Promise<EarlierRequest | undefined>;
  /** The last event of the service that this node has heard of. */
  readonly heard: () => Position;
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
  detail: 'The body is not valid JSON',
};
const FULL: Rejection = {
  rejected: 'logs/queue-full',
  kind: 'limit',
  detail: 'Too many records are waiting, try again in a moment',
  retryAfterMs: 1000,
};
const KEY_REUSED: Rejection = {
  rejected: 'logs/idempotency-key-reused',
  kind: 'conflict',
  detail: 'This Idempotency-Key was used before with another request',
};

export interface Records {
  readonly producerId: string;
  readonly records: readonly ReadRecord[];
  readonly rejected: number;
  readonly source?: Source;
}

export type Ingest = ReturnType<typeof createIngest>;

export function createIngest({ appender, vault, settled, clock, release, earlier, heard }: IngestPorts) {
  const origin = { service: 'logs', release };
  /** Since this process began. */
  const totals = { accepted: 0, rejected: 0 };
  let latest: Position = 0n;
  const running = new Map<string, Promise<unknown>>();

  /** A posted body; `json` when it was announced as `application/json`. Rejects with `Unavailable` like any append. */
  async function post(
    text: string,
    json: boolean,
    producerId: string,
    context: CommandContext,
  ): Promise<{ readonly receipt: Receipt; readonly ingested: Ingested } | Rejection> {
    const body = readBody(text, json);
    if (!body) return NOT_JSON;
    const { records, rejected, errors } = body;
    const ingested = await take({ producerId, records, rejected }, context);
    if ('rejected' in ingested) return ingested;
    const receivedAt = new Date(ingested.receivedAt).toISOString();
    return {
      receipt: { accepted: records.length, rejected, queued: false, producerId, receivedAt, errors },
      ingested,
    };
  }

  /** Records from wherever. The same keyed command again puts nothing twice. */
  async function take(given: Records, context: CommandContext): Promise<Ingested | Rejection> {
    const bytes = given.records.reduce((sum, each) => sum + each.bytes, 0);
    if (!appender.hasRoom(bytes)) return FULL;
    if (!context.fingerprint) return store({ ...given, receivedAt: clock.now() }, context);
    const { commandId, fingerprint } = context;
    while (running.has(commandId)) await running.get(commandId)?.catch(() => {});
    const work = (async () => {
      // The index must know of whatever this key may have done before.
      const last = heard() > latest ? heard() : latest;
      if (!(await settled.wait('logs', last))) throw new Unavailable('the index is behind');
      const before = await earlier(commandId);
      if (before && before.fingerprint !== fingerprint) return KEY_REUSED;
      const receivedAt = before?.receivedAt ?? clock.now();
      return store({ ...given, receivedAt }, context, before);
    })();
    running.set(commandId, work);
    return work.finally(() => running.delete(commandId));
  }

  async function store(
    given: Ingestion,
    context: CommandContext,
    before?: EarlierRequest,
  ): Promise<Ingested> {
    const { receivedAt, records } = given;
    const lines = new Map<string, Waiting[]>();
    const bytes = Math.ceil(records.reduce((sum, each) => sum + each.bytes, 0) / Math.max(1, records.length));
    for (const [index, batch] of batchesOf(given).entries()) {
      await vault.create(keepingSubject(batch.data));
      const stream = batchStream(batch.data, receivedAt);
      const event = newEvent(origin, stream, batch, index, context);
      if (before?.batches.includes(event.id)) continue;
      lines.set(stream, [...(lines.get(stream) ?? []), { event, bytes: bytes * batch.data.count }]);
    }
    const positions = await Promise.all(
      Array.from(lines, ([stream, waiting]) => appender.append(stream, waiting)),
    );
    let position = before?.position ?? 0n;
    for (const each of positions) if (each > position) position = each;
    if (position > latest) latest = position;
    if (!before) totals.accepted += given.records.length;
    totals.rejected += given.rejected;
    return { receivedAt, position, visible: await settled.wait('logs', position) };
  }

  return {
    post,
    take,
    /** The last append: what a query on this node must show. */
    latest: () => latest,
    totals: () => ({ ...totals, waitingBytes: appender.waitingBytes() }),
  };
}
