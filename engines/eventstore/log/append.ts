/** Appends events: checks the expected revision, recognizes repeated event ids and applies stream metadata. */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parseUuid } from '../wire/uuid.js';
import { RequestRefused } from './errors.js';
import type { EventLog } from './event-log.js';
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from './expected.js';
import { isMetastream, metastreamOf, parseRetention, streamOfMetastream } from './metadata.js';
import { floorOf } from './read.js';
import { createdOf, hasId, type ProposedEvent } from './record.js';
import type { StreamState } from './streams.js';

export interface AppendResult {
  /** Revision of the last event. */
  readonly revision: number;
  /** Undefined when nothing was stored and the event can no longer be read. */
  readonly position: number | undefined;
}

export interface Append {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
  /** Total bytes of data, metadata and types. */
  readonly size: number;
}

/** Maximum bytes of one append. */
export const MAX_APPEND_SIZE = 1 << 20;

/** Ids of recent appends, to recognize repetitions under ANY and STREAM_EXISTS. Lost on restart. */
export interface RecentIds {
  get(id: string): { readonly stream: number; readonly revision: number } | undefined;
  set(id: string, place: { readonly stream: number; readonly revision: number }): unknown;
  clear(): void;
}

const REMEMBERED_IDS = 20_000;
export const createRecentIds = (): RecentIds => new LRUCache({ max: REMEMBERED_IDS });

/** Checks and writes one append. Call only inside `submit`. Throws `RequestRefused`. */
export function append(log: EventLog, recent: RecentIds, request: Append, now: number): AppendResult {
  const { streams } = log;
  if (request.size > MAX_APPEND_SIZE) throw new RequestRefused({ kind: 'append-too-large', limit: MAX_APPEND_SIZE });
  let stream = streams.written(request.stream);
  const repetition = findRepetition(log, recent, request, stream);
  if (repetition && stream) return repetitionResult(log, stream, repetition, now);

  const isNew = stream === undefined;
  stream ??= streams.create(request.stream);
  let position: number | undefined;
  for (const event of request.events) {
    ({ stream, position } = log.write(stream, event, now));
    const id = idKey(event.id);
    if (recent.get(id)?.stream !== stream.number) {
      recent.set(id, { stream: stream.number, revision: stream.lastRevision });
    }
  }
  if (isNew) streams.put(stream);
  else streams.advance(stream);
  if (isMetastream(stream.name)) applyMetadata(log, stream, request.events);
  return { revision: stream.lastRevision, position };
}

/** Finds the revision the same events already have; undefined if they must be written. Throws `RequestRefused`. */
function findRepetition(
  log: EventLog,
  recent: RecentIds,
  { stream: name, expected, events }: Append,
  stream: StreamState | undefined,
): { last: number } | undefined {
  if (log.streams.isTombstoned(name, 'written')) throw new RequestRefused({ kind: 'stream-deleted', stream: name });
  const actual = stream?.lastRevision ?? -1;
  const wrongVersion = () => new RequestRefused({ kind: 'wrong-expected-version', stream: name, expected, actual });

  if (expected === STREAM_EXISTS) {
    const metastream = log.streams.written(metastreamOf(name));
    if (actual < 0 && (metastream?.lastRevision ?? -1) < 0) throw wrongVersion();
  }
  if (expected === ANY || expected === STREAM_EXISTS) {
    let last: number | undefined;
    for (const event of events) {
      const known = recent.get(idKey(event.id));
      if (!stream || known?.stream !== stream.number) {
        if (last === undefined) return undefined;
        throw wrongVersion();
      }
      last = known.revision;
    }
    return last === undefined ? undefined : { last };
  }
  const expectedLast = expected === NO_STREAM ? -1 : Number(expected);
  if (expectedLast === actual) return undefined;
  if (!stream || expectedLast > actual) throw wrongVersion();
  for (const [index, event] of events.entries()) {
    const stored = log.find(stream, expectedLast + 1 + index);
    if (stored && hasId(stored.record, event.id)) continue;
    throw wrongVersion();
  }
  return { last: expectedLast + events.length };
}

function repetitionResult(log: EventLog, stream: StreamState, { last }: { last: number }, now: number): AppendResult {
  const stored = log.find(stream, last);
  const expired = stored && stream.maxAge !== undefined && createdOf(stored.record) < now - stream.maxAge;
  const readable = stored && last >= floorOf(stream) && !expired;
  return { revision: last, position: readable ? stored.position : undefined };
}

/**
 * Applies the metadata appended to a metastream to the stream it describes. Metadata of metastreams themselves is
 * fixed.
 */
function applyMetadata(log: EventLog, metastream: StreamState, events: readonly ProposedEvent[]): void {
  const name = streamOfMetastream(metastream.name);
  const last = events.at(-1);
  if (isMetastream(name) || !last) return;
  const describedStream = log.streams.written(name) ?? log.streams.create(name);
  const json = last.contentType.equals(JSON_TYPE) ? last.data : NOTHING;
  log.streams.put(withMetadata(json, describedStream));
}

/** Writes a `$metadata` event on the server's behalf and applies it. Returns its position. */
export function writeMetadata(log: EventLog, name: string, data: Buffer, now: number): number {
  const { streams } = log;
  const describedStream = streams.written(name) ?? streams.create(name);
  const metastream = streams.written(metastreamOf(name)) ?? streams.create(metastreamOf(name));
  const written = log.write(metastream, systemEvent('$metadata', data), now);
  streams.put(written.stream);
  streams.put(withMetadata(data, describedStream));
  return written.position;
}

/**
 * Returns the stream under new metadata. If that reveals hidden events, a scavenge may already have removed some of
 * them.
 */
function withMetadata(metadata: Buffer, stream: StreamState): StreamState {
  const next = { ...stream, ...parseRetention(metadata) };
  const revealsEvents = floorOf(next) < floorOf(stream) || (stream.maxAge !== undefined && next.maxAge === undefined);
  return { ...next, wasHidden: stream.wasHidden || revealsEvents };
}

/** Creates an event of the server itself; JSON unless empty. */
export function systemEvent(type: string, data: Buffer = NOTHING): ProposedEvent {
  const contentType = data.length > 0 ? JSON_TYPE : BINARY_TYPE;
  return { id: newId(), type: Buffer.from(type), contentType, metadata: NOTHING, data };
}

const newId = (): Buffer => parseUuid(randomUUID());
const idKey = (id: Buffer): string => id.toString('latin1');
const NOTHING: Buffer = Buffer.alloc(0);
export const JSON_TYPE = Buffer.from('application/json');
export const BINARY_TYPE = Buffer.from('application/octet-stream');
