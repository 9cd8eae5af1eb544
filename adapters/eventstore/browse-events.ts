/** Reads events as they are stored, newest first and in bounded pages, for people who look at the log. */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import type { StoredEvent } from '../../application/audit/index.js';
import type { EventMetadata, Position } from '../../application/ports/index.js';
import { readAll } from './client.js';
import { BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError } from './driver.js';
import { createEventLookup } from './event-log.js';
import { firstRecordOf } from './log-positions.js';
import { isRefusedPosition } from './subscription.js';

/** Identity of a stored event, without its data, which may be large. */
export interface StoredHeader {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /** Stored type, for example `chat.MessagePosted.v1`. */
  readonly type: string;
  /** Unix ms. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
}

export type HeaderFilter = (header: StoredHeader) => boolean;

export interface HeaderPage {
  /** In the direction of the read. */
  readonly events: readonly StoredHeader[];
  /** Number of events that were read to find these. */
  readonly scanned: number;
  /** The last event that was read, where to continue; undefined at the end of the log or stream. */
  readonly last: StoredHeader | undefined;
}

/** The read cannot start where it was asked to. */
export class UnreadableStart extends Error {
  override readonly name = 'UnreadableStart';

  constructor(readonly reason: 'no such position' | 'no such stream' | 'stream deleted') {
    super(reason);
  }
}

/** Events in memory at a time. */
const BATCH_SIZE = 100;
const MAX_SCANNED = 5000;
const MAX_SCAN_MS = 2000;

type Direction = typeof BACKWARDS | typeof FORWARDS;
type ReadBatch = (after: StoredHeader | undefined) => Promise<readonly ResolvedEvent[]>;

export type EventBrowser = ReturnType<typeof createEventBrowser>;

/**
 * @param maxScanned Number of events that are read for one page, so that a rare event costs several requests instead of
 *   a long one.
 */
export function createEventBrowser(client: EventStoreDBClient, maxScanned = MAX_SCANNED) {
  const readLog = (direction: Direction, start: Position | undefined): ReadBatch => {
    return (after) => {
      const at = after?.position ?? start;
      const fromPosition = at === undefined ? END : { commit: at, prepare: at };
      return readAll(() => client.readAll({ direction, fromPosition, maxCount: BATCH_SIZE }));
    };
  };

  const readStream = (stream: string, before: bigint | undefined): ReadBatch => {
    return async (after) => {
      const next = after?.revision ?? before;
      if (next === 0n) return [];
      const fromRevision = next === undefined ? END : next - 1n;
      return readAll(() => client.readStream(stream, { direction: BACKWARDS, fromRevision, maxCount: BATCH_SIZE }));
    };
  };

  return {
    /** Events before a position; default: the newest. */
    newest: (before: Position | undefined, matches: HeaderFilter, limit: number) =>
      scan(readLog(BACKWARDS, before), matches, limit, maxScanned),

    /** Events of a stream before a revision; default: the newest. */
    newestOf: (stream: string, before: bigint | undefined, matches: HeaderFilter, limit: number) =>
      scan(readStream(stream, before), matches, limit, maxScanned),

    /** The event at a position and those after it, in log order. */
    after: (position: Position, matches: HeaderFilter, limit: number) =>
      scan(readLog(FORWARDS, position), matches, limit, maxScanned),
  };
}

/** Returns the event at a position as stored, if there is one. */
export function createStoredEventReader(client: EventStoreDBClient) {
  const lookUp = createEventLookup(client);
  return async (position: Position): Promise<StoredEvent | undefined> => {
    const { event } = await lookUp(position).catch((error) => {
      if (isRefusedPosition(error)) return { event: undefined };
      throw error;
    });
    return event;
  };
}

async function scan(read: ReadBatch, matches: HeaderFilter, limit: number, maxScanned: number): Promise<HeaderPage> {
  const startedAt = performance.now();
  const events: StoredHeader[] = [];
  let scanned = 0;
  let last: StoredHeader | undefined;
  for (;;) {
    const batch = await read(last).catch((error) => {
      throw unreadable(error) ?? error;
    });
    for (const resolved of batch) {
      const header = headerOf(resolved);
      // Reads forwards repeat the event where they continue.
      if (!header || header.position === last?.position) continue;
      last = header;
      scanned++;
      if (matches(header)) events.push(header);
      if (events.length === limit) return { events, scanned, last };
    }
    if (batch.length < BATCH_SIZE) return { events, scanned, last: undefined };
    if (scanned >= maxScanned || performance.now() - startedAt > MAX_SCAN_MS) return { events, scanned, last };
  }
}

function unreadable(error: unknown): UnreadableStart | undefined {
  if (error instanceof StreamNotFoundError) return new UnreadableStart('no such stream');
  if (error instanceof StreamDeletedError) return new UnreadableStart('stream deleted');
  return isRefusedPosition(error) ? new UnreadableStart('no such position') : undefined;
}

function headerOf({ event }: ResolvedEvent): StoredHeader | undefined {
  if (!event?.position) return undefined;
  const { id, streamId: stream, revision, type, position } = event;
  // Reads continue at positions of the store, so these are shown, also of copied events.
  const { recordedAt, metadata } = firstRecordOf(event);
  const isOurs = typeof metadata === 'object' && metadata !== null && !(metadata instanceof Uint8Array);
  const common = { id, stream, revision, position: position.commit, type, recordedAt };
  return { ...common, metadata: isOurs ? (metadata as EventMetadata) : {} };
}
