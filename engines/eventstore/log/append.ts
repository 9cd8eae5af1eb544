/** Appending: the expected revision, the store's idempotency by event id, and what metadata events change. */
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parseUuid } from '../wire/uuid.js';
import { Refused } from './errors.js';
import type { EventLog } from './event-log.js';
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from './expected.js';
import { describedBy, isMetastream, metastreamOf, parseRetention, reopened, SOFT_DELETED } from './metadata.js';
import { floorOf } from './read.js';
import { createdOf, dataOf, hasId, type ProposedEvent } from './record.js';
import type { StreamState } from './streams.js';

export interface Appended {
  /** Of the last event. */
  readonly revision: number;
  /** Undefined when nothing was stored and the event in question cannot be read any more. */
  readonly position: number | undefined;
}

export interface Append {
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly events: readonly ProposedEvent[];
  /** Bytes of data, metadata and types. */
  readonly size: number;
}

/** Bytes of the largest append. */
export const MAX_APPEND_SIZE = 1 << 20;

/** The ids of recent appends, per log: what ANY and STREAM_EXISTS are judged by. Gone after a restart. */
export interface RecentIds {
  get(id: string): { readonly stream: number; readonly revision: number } | undefined;
  set(id: string, place: { readonly stream: number; readonly revision: number }): unknown;
  clear(): void;
}

const REMEMBERED_IDS = 20_000;
export const rememberIds = (): RecentIds => new LRUCache({ max: REMEMBERED_IDS });

/** Decides and writes one append; only inside `submit`. Throws `Refused`. */
export function append(log: EventLog, recent: RecentIds, request: Append, now: number): Appended {
  const { streams } = log;
  if (request.size > MAX_APPEND_SIZE) throw new Refused({ kind: 'append-too-large', limit: MAX_APPEND_SIZE });
  let stream = streams.written(request.stream);
  const again = judge(log, recent, request, stream);
  if (again && stream) return repeated(log, stream, again, now);

  const isNew = stream === undefined;
  stream ??= streams.create(request.stream);
  const reopens = stream.truncateBefore === SOFT_DELETED && stream.lastRevision + 1;
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
  if (reopens !== false) reopen(log, stream, reopens, now);
  if (isMetastream(stream.name)) describe(log, stream, request.events, now);
  return { revision: stream.lastRevision, position };
}

/** Undefined: write. Otherwise the revisions that the events already have. Throws `Refused`. */
function judge(
  log: EventLog,
  recent: RecentIds,
  { stream: name, expected, events }: Append,
  stream: StreamState | undefined,
): { last: number } | undefined {
  if (log.streams.isTombstoned(name, 'written')) throw new Refused({ kind: 'stream-deleted', stream: name });
  const actual = stream?.lastRevision ?? -1;
  const softDeleted = stream?.truncateBefore === SOFT_DELETED;
  const wrong = () => new Refused({ kind: 'wrong-expected-version', stream: name, expected, actual });

  if (expected === STREAM_EXISTS) {
    if (softDeleted) throw new Refused({ kind: 'stream-deleted', stream: name });
    const described = log.streams.written(metastreamOf(name));
    if (actual < 0 && (described?.lastRevision ?? -1) < 0) throw wrong();
  }
  if (expected === ANY || expected === STREAM_EXISTS) {
    let last: number | undefined;
    for (const event of events) {
      const known = recent.get(idKey(event.id));
      if (!stream || known?.stream !== stream.number) {
        if (last === undefined) return undefined;
        throw wrong();
      }
      last = known.revision;
    }
    return last === undefined ? undefined : { last };
  }
  const before = expected === NO_STREAM ? -1 : Number(expected);
  if (before === actual) return undefined;
  if (!stream || before > actual) throw wrong();
  for (const [index, event] of events.entries()) {
    const stored = log.find(stream, before + 1 + index);
    if (stored && hasId(stored.record, event.id)) continue;
    if (index === 0 && expected === NO_STREAM && softDeleted) return undefined;
    throw wrong();
  }
  return { last: before + events.length };
}

function repeated(log: EventLog, stream: StreamState, { last }: { last: number }, now: number): Appended {
  const stored = log.find(stream, last);
  const expired = stored && stream.maxAge !== undefined && createdOf(stored.record) < now - stream.maxAge;
  const readable = stored && last >= floorOf(stream) && !expired;
  return { revision: last, position: readable ? stored.position : undefined };
}

/** A soft-deleted stream begins again at `truncateBefore`: the server says so in its metadata. */
function reopen(log: EventLog, stream: StreamState, truncateBefore: number, now: number): void {
  const metastream = log.streams.written(metastreamOf(stream.name));
  const last = metastream && log.find(metastream, metastream.lastRevision);
  const data = reopened(last ? dataOf(last.record) : NOTHING, truncateBefore);
  writeMetadata(log, stream.name, data, now);
}

/** What was appended to a metastream holds for the stream it describes; metastreams themselves are fixed. */
function describe(log: EventLog, metastream: StreamState, events: readonly ProposedEvent[], now: number): void {
  const name = describedBy(metastream.name);
  const last = events.at(-1);
  if (isMetastream(name) || !last) return;
  const described = log.streams.written(name) ?? log.streams.create(name);
  const reopens = described.truncateBefore === SOFT_DELETED;
  const json = last.contentType.equals(JSON_TYPE) ? last.data : NOTHING;
  log.streams.put(under(json, described));
  if (reopens) writeMetadata(log, name, reopened(json, described.lastRevision + 1), now);
}

/** Writes a `$metadata` event of the server's own and makes it hold. Returns its position. */
export function writeMetadata(log: EventLog, name: string, data: Buffer, now: number): number {
  const { streams } = log;
  const described = streams.written(name) ?? streams.create(name);
  const metastream = streams.written(metastreamOf(name)) ?? streams.create(metastreamOf(name));
  const written = log.write(metastream, systemEvent('$metadata', data), now);
  streams.put(written.stream);
  streams.put(under(data, described));
  return written.position;
}

/** The stream with other metadata. Of what that shows again a scavenge may have taken some away. */
function under(metadata: Buffer, stream: StreamState): StreamState {
  const next = { ...stream, ...parseRetention(metadata) };
  const showsMore = floorOf(next) < floorOf(stream) || (stream.maxAge !== undefined && next.maxAge === undefined);
  return { ...next, wasHidden: stream.wasHidden || showsMore };
}

/** An event of the server's own, JSON unless empty. */
export function systemEvent(type: string, data: Buffer = NOTHING): ProposedEvent {
  const contentType = data.length > 0 ? JSON_TYPE : BINARY_TYPE;
  return { id: newId(), type: Buffer.from(type), contentType, metadata: NOTHING, data };
}

const newId = (): Buffer => parseUuid(randomUUID());
const idKey = (id: Buffer): string => id.toString('latin1');
const NOTHING: Buffer = Buffer.alloc(0);
export const JSON_TYPE = Buffer.from('application/json');
export const BINARY_TYPE = Buffer.from('application/octet-stream');
