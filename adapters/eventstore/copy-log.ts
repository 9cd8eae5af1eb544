/** Copies a log from one event store to another, for `annals migrate`: same order, streams, revisions, ids and content. */
import { randomUUID } from 'node:crypto';
import type { EventData, ResolvedEvent, StreamMetadata } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { uuidFrom } from '../../application/command/index.js';
import { createBoundedParallel } from '../../application/concurrency/index.js';
import { type Logger, type Position, UnavailableError } from '../../application/ports/index.js';
import { callStore, type FastClient, readAll } from './client.js';
import {
  ANY,
  BACKWARDS,
  END,
  FORWARDS,
  jsonEvent,
  NO_STREAM,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from './driver.js';
import {
  COMPLETED,
  FILLER,
  MIGRATION_STREAM,
  ORIGIN,
  type Origin,
  originOf,
  PROGRESSED,
  STARTED,
} from './log-positions.js';
import { createSubscription, readHeadPosition } from './subscription.js';

export interface LogCopy {
  readonly source: FastClient;
  readonly target: FastClient;
  /** Prefixes of the streams to copy. */
  readonly prefixes: readonly string[];
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export interface CopyProgress {
  readonly events: number;
  readonly fillers: number;
  readonly position: Position;
}

/** Appends under way. They share a call of the driver, on which the server stores them in the order they were sent. */
const MAX_APPENDS = 64;
/** An append is at most 1 MiB; one event may be as large. */
const APPEND_BYTES = 256 * 1024;
const APPEND_EVENTS = 500;
/** Events between position marks: a subscription may read this many without a match. */
const MARK_EVENTS = 1000;
const REMEMBERED_STREAMS = 200_000;

type StoredEvent = NonNullable<ResolvedEvent['event']>;

interface Group {
  readonly stream: string;
  /** Revision of the first event. */
  readonly revision: number;
  readonly events: EventData[];
  bytes: number;
}

/**
 * Copies what the target does not have yet, in the order of the log. It may be stopped at any moment and run again,
 * since the target always holds the beginning of the log. Rejects with `UnavailableError`.
 */
export async function copyLog(
  { source, target, prefixes, logger, signal }: LogCopy,
  onProgress: (progress: CopyProgress) => void,
): Promise<void> {
  const from = await lastCopied(target);
  const nextRevisions = new LRUCache<string, number>({ max: REMEMBERED_STREAMS });
  let marks = await nextRevision(target, MIGRATION_STREAM);
  const mark = (position: Position) =>
    append(target, MIGRATION_STREAM, marks++, [recordOf(PROGRESSED, { position: String(position) })]);
  // Alone: the first appends of a connection may be stored in another order.
  await mark(from ?? 0n);

  const appends = createBoundedParallel(MAX_APPENDS);
  let group: Group | undefined;
  let [events, fillers, marked] = [0, 0, 0];

  /** Number of events the target has of a stream. */
  async function sizeOf(stream: string, isFirst: boolean): Promise<number> {
    const known = nextRevisions.get(stream) ?? (isFirst ? 0 : undefined);
    if (known !== undefined) return known;
    await appends.finish();
    return nextRevision(target, stream);
  }

  async function flush() {
    if (!group) return;
    const { stream, revision, events: copies } = group;
    group = undefined;
    for (let next = await sizeOf(stream, revision === 0); next < revision; ) {
      const first = next;
      const missing = Array.from({ length: Math.min(APPEND_EVENTS, revision - first) }, (_, at) =>
        fillerOf(stream, first + at),
      );
      await appends.start(() => append(target, stream, first, missing));
      next += missing.length;
      fillers += missing.length;
    }
    await appends.start(() => append(target, stream, revision, copies));
    nextRevisions.set(stream, revision + copies.length);
  }

  async function copy(event: StoredEvent) {
    const { streamId: stream } = event;
    if (event.type === '$streamDeleted') {
      await flush();
      // Not an append: it must not overtake those under way.
      await appends.finish();
      await ignoreDeleted(() => target.tombstoneStream(stream, { expectedRevision: ANY }));
      return;
    }
    if (group?.stream !== stream || group.bytes > APPEND_BYTES || group.events.length === APPEND_EVENTS) await flush();
    group ??= { stream, revision: Number(event.revision), events: [], bytes: 0 };
    const copied = copyOf(event);
    group.events.push(copied);
    group.bytes += (copied.data as Buffer).length + (copied.metadata as Buffer).length;
  }

  const follow = createSubscription(source, asStored, logger);
  const batchSize = APPEND_EVENTS;
  for await (const batch of follow({ prefixes, from: from ?? 'start', signal, batchSize })) {
    for (const event of batch.events) {
      await copy(event);
      if (++events - marked < MARK_EVENTS) continue;
      marked = events;
      await flush();
      await appends.start(() => mark(event.position!.commit));
    }
    await flush();
    if (batch.position !== undefined) onProgress({ events, fillers, position: batch.position });
    if (batch.caughtUp) break;
  }
  await appends.finish();
  signal.throwIfAborted();
}

const asStored = ({ event }: ResolvedEvent): readonly StoredEvent[] => (event ? [event] : []);

/** Position in the source of the last event that was copied. */
async function lastCopied(target: FastClient): Promise<Position | undefined> {
  const maxCount = 500;
  for (let fromPosition: typeof END | { commit: bigint; prepare: bigint } = END; ; ) {
    const options = { direction: BACKWARDS, fromPosition, maxCount } as const;
    const page: readonly ResolvedEvent[] = await readAll(() => target.readAll(options));
    const found = page.find(({ event }) => event && originOf(event));
    if (found) return BigInt(originOf(found.event!)!.position);
    const last = page.at(-1)?.event?.position;
    if (!last || page.length < maxCount) return undefined;
    fromPosition = last;
  }
}

function copyOf({ id, type, isJson, data, metadata, created, position }: StoredEvent): EventData {
  const origin: Origin = { position: String(position!.commit), time: created.getTime() };
  return {
    id,
    type,
    contentType: isJson ? 'application/json' : 'application/octet-stream',
    // Encoded here, since the length is needed.
    data: isJson ? Buffer.from(JSON.stringify(data)) : data,
    metadata: Buffer.from(JSON.stringify({ ...(metadata as object | undefined), [ORIGIN]: origin })),
  } as EventData;
}

const fillerOf = (stream: string, revision: number): EventData =>
  jsonEvent({ id: uuidFrom(`filler ${stream} ${revision}`), type: FILLER, data: {} });

const recordOf = (type: string, data: { readonly [name: string]: string }): EventData =>
  jsonEvent({ id: randomUUID(), type, data });

/** Appends events whose first one gets this revision. Events that the store has already are not stored again. */
async function append(client: FastClient, stream: string, revision: number, events: EventData[]): Promise<void> {
  const expectedRevision = revision === 0 ? NO_STREAM : BigInt(revision - 1);
  try {
    await callStore(() =>
      client.appendToStream(stream, events, { expectedRevision, deadline: Number.POSITIVE_INFINITY }),
    );
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    // An append of an interrupted attempt came in between; the next attempt sees it.
    throw new UnavailableError(`${stream} was written to by another process`, { cause: error });
  }
}

/** A revision that no stream has. */
const NO_REVISION = 2n ** 40n;

/** Revision of the next event of a stream, also if its events are hidden or removed. Writes nothing. */
async function nextRevision(client: FastClient, stream: string): Promise<number> {
  try {
    await callStore(() => client.appendToStream(stream, fillerOf(stream, 0), { expectedRevision: NO_REVISION }));
  } catch (error) {
    if (!(error instanceof WrongExpectedVersionError)) throw error;
    return typeof error.actualVersion === 'bigint' ? Number(error.actualVersion) + 1 : 0;
  }
  throw new Error(`${stream} is longer than any stream`);
}

const ignoreDeleted = (call: () => Promise<unknown>): Promise<unknown> =>
  callStore(call).catch((error) => {
    if (!(error instanceof StreamDeletedError)) throw error;
  });

/** Copies the rules that remove events of streams, and hides what the source no longer shows. Returns their number. */
export async function copyRules({ source, target, prefixes, logger, signal }: LogCopy): Promise<number> {
  const follow = createSubscription(source, asStored, logger);
  const streams = new Set<string>();
  const metastreams = prefixes.map((prefix) => `$$${prefix}`);
  for await (const { events, caughtUp } of follow({ prefixes: metastreams, from: 'start', signal })) {
    for (const { streamId } of events) streams.add(streamId.slice('$$'.length));
    if (caughtUp) break;
  }
  signal.throwIfAborted();
  const calls = createBoundedParallel(MAX_APPENDS);
  for (const stream of streams)
    await calls.start(() =>
      ignoreDeleted(async () => {
        const rule = await ruleOf(source, stream);
        if (rule) await target.setStreamMetadata(stream, rule, { deadline: Number.POSITIVE_INFINITY });
      }).then(() => {}),
    );
  await calls.finish();
  return streams.size;
}

async function ruleOf(source: FastClient, stream: string): Promise<StreamMetadata | undefined> {
  const { metadata } = await source.getStreamMetadata(stream);
  if (!metadata) return undefined;
  const options = { direction: FORWARDS, fromRevision: START, maxCount: 1 } as const;
  const [first] = await readAll(() => source.readStream(stream, options)).catch((error) => {
    if (error instanceof StreamNotFoundError) return [];
    throw error;
  });
  // The ages of events start again in the target, and fillers have none.
  const truncateBefore = first?.event ? Number(first.event.revision) : await nextRevision(source, stream);
  return truncateBefore > 0 ? { ...metadata, truncateBefore } : metadata;
}

/** Whether a store has no streams but those of the server. */
export async function isEmptyStore(client: FastClient): Promise<boolean> {
  const maxCount = 1000;
  for (let fromPosition: typeof START | { commit: bigint; prepare: bigint } = START; ; ) {
    const options = { direction: FORWARDS, fromPosition, maxCount } as const;
    const page: readonly ResolvedEvent[] = await readAll(() => client.readAll(options));
    if (page.some(({ event }) => event && !event.streamId.startsWith('$'))) return false;
    const last = page.at(-1)?.event?.position;
    if (!last || page.length < maxCount) return true;
    fromPosition = last;
  }
}

/** Records in an empty store that the log of an installation is copied to it. */
export const startMigration = (target: FastClient, installation: string): Promise<void> =>
  append(target, MIGRATION_STREAM, 0, [recordOf(STARTED, { installation })]);

const PADDING_STREAM = 'annals-migration-padding';
const PADDING = { padding: 'x'.repeat(900 * 1024) };

/** Ends a migration: later events get positions after all of the source. */
export async function completeMigration(source: FastClient, target: FastClient): Promise<void> {
  const end = (await readHeadPosition(source)) ?? 0n;
  await callStore(() => target.setStreamMetadata(PADDING_STREAM, { maxCount: 1 }));
  while (((await readHeadPosition(target)) ?? 0n) <= end) {
    const padding = jsonEvent({ type: 'annals.Padding.v1', data: PADDING });
    await callStore(() => target.appendToStream(PADDING_STREAM, padding, { expectedRevision: ANY }));
  }
  const next = await nextRevision(target, MIGRATION_STREAM);
  await append(target, MIGRATION_STREAM, next, [recordOf(COMPLETED, { position: String(end) })]);
}
