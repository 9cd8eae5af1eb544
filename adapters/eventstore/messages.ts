/**
 * Encodes append requests and decodes events. The driver's messages create several objects for each field and copy
 * each text twice: a sixth of the cost of a short command.
 */
import type { AppendToStreamOptions, EventData, ResolvedEvent } from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan it for export names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { ANY, NO_STREAM, STREAM_EXISTS } from './driver.js';
import { ENTRY, type FieldReader, Message, readFields } from './protobuf.js';

/** Field numbers of `streams.proto` and `shared.proto`. */
const UUID = { string: 2 };
const STREAM_IDENTIFIER = { name: 3 };
const REQUEST = { correlationId: 1, options: 2, proposed: 3, isFinal: 4 };
const OPTIONS = { stream: 1, revision: 2, noStream: 3, any: 4, streamExists: 5, deadline: 6 };
const TIMESTAMP = { seconds: 1, nanos: 2 };
const PROPOSED = { id: 1, metadata: 2, custom: 3, data: 4 };
const READ_RESP = { event: 1 };
const READ_EVENT = { event: 1, commitPosition: 3, noPosition: 4 };
const RECORDED = { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, metadata: 6, custom: 7, data: 8 };

export interface Append {
  /** A UUID. */
  readonly correlationId: string;
  readonly stream: string;
  readonly expected: NonNullable<AppendToStreamOptions['expectedRevision']>;
  /** The store rejects the append after this time. */
  readonly deadline: Date;
}

/** Encodes an append as a single message. */
export function appendRequest(
  events: readonly EventData[],
  { correlationId, stream, expected, deadline }: Append,
): Buffer {
  const options = new Message()
    .message(OPTIONS.stream, new Message().text(STREAM_IDENTIFIER.name, stream))
    .message(OPTIONS.deadline, timestamp(deadline.getTime()));
  if (expected === ANY) options.message(OPTIONS.any);
  else if (expected === NO_STREAM) options.message(OPTIONS.noStream);
  else if (expected === STREAM_EXISTS) options.message(OPTIONS.streamExists);
  else options.integer(OPTIONS.revision, Number(expected));
  const request = new Message().message(REQUEST.correlationId, uuid(correlationId)).message(REQUEST.options, options);
  for (const event of events) request.message(REQUEST.proposed, proposed(event));
  return request.integer(REQUEST.isFinal, 1).encoded();
}

const uuid = (id: string) => new Message().text(UUID.string, id);

const timestamp = (ms: number) =>
  new Message().integer(TIMESTAMP.seconds, Math.floor(ms / 1000)).integer(TIMESTAMP.nanos, (ms % 1000) * 1e6);

function proposed({ id, type, contentType, data, metadata }: EventData): Message {
  const message = new Message()
    .message(PROPOSED.id, uuid(id))
    .message(PROPOSED.metadata, entry('type', type))
    .message(PROPOSED.metadata, entry('content-type', contentType));
  if (metadata) put(message, PROPOSED.custom, metadata);
  return put(message, PROPOSED.data, data);
}

const entry = (key: string, value: string) => new Message().text(ENTRY.key, key).text(ENTRY.value, value);

/** Bytes are written unchanged; everything else as JSON. */
const put = (message: Message, field: number, value: unknown) =>
  value instanceof Uint8Array ? message.bytes(field, value) : message.text(field, JSON.stringify(value));

type Answer = InstanceType<typeof messages.ReadResp>;

/** An event that is decoded already, in place of the driver's message. */
export class DecodedEvent {
  constructor(readonly event: ResolvedEvent) {}
}

/** Decodes a response of `Streams/Read`; the driver decodes everything but plain events. */
export const readAnswer = (bytes: Buffer): DecodedEvent | Answer => {
  const event = decodeEvent(bytes);
  return event ? new DecodedEvent(event) : messages.ReadResp.deserializeBinary(bytes);
};

/** Converts ticks of 100 ns since 1970 to ms. They have more decimal digits than a number holds exactly. */
const msOf = (ticks: string): number => Number(ticks.slice(0, -4));

function decodeEvent(bytes: Buffer): ResolvedEvent | undefined {
  const answer = readFields(bytes);
  if (answer.next() !== READ_RESP.event) return undefined;
  const resolved = answer.message();
  let event: ResolvedEvent['event'];
  let commitPosition: bigint | undefined;
  for (let field = resolved.next(); field > 0; field = resolved.next()) {
    if (field === READ_EVENT.event) event = decodeRecorded(resolved.message());
    else if (field === READ_EVENT.commitPosition) commitPosition = resolved.integer();
    else if (field === READ_EVENT.noPosition) resolved.skip();
    // A link event; this client never resolves links.
    else return undefined;
  }
  return event && { event, ...(commitPosition !== undefined && { commitPosition }) };
}

function decodeRecorded(fields: FieldReader): ResolvedEvent['event'] {
  let [id, streamId, type, contentType, created] = ['', '', '', '', '0'];
  let [revision, prepare, commit] = [0n, 0n, 0n];
  let custom: Buffer | undefined;
  let data: Buffer | undefined;
  for (let field = fields.next(); field > 0; field = fields.next()) {
    if (field === RECORDED.id) id = fields.message().textAt(UUID.string);
    else if (field === RECORDED.stream) streamId = fields.message().textAt(STREAM_IDENTIFIER.name);
    else if (field === RECORDED.revision) revision = fields.integer();
    else if (field === RECORDED.prepare) prepare = fields.integer();
    else if (field === RECORDED.commit) commit = fields.integer();
    else if (field === RECORDED.metadata) {
      const [key, value] = fields.message().entry();
      if (key === 'type') type = value;
      else if (key === 'content-type') contentType = value;
      else if (key === 'created') created = value;
    } else if (field === RECORDED.custom) custom = fields.bytes();
    else if (field === RECORDED.data) data = fields.bytes();
    else fields.skip();
  }
  if (!id || !streamId || !type) return undefined;
  const common = {
    id,
    streamId,
    revision,
    type,
    created: new Date(msOf(created)),
    position: { commit, prepare },
    metadata: custom?.length ? parseJson(custom, () => Uint8Array.from(custom)) : undefined,
  };
  return contentType === 'application/json'
    ? { ...common, isJson: true, data: parseJson(data ?? EMPTY, (text) => text) }
    : { ...common, isJson: false, data: Uint8Array.from(data ?? EMPTY) };
}

const EMPTY = Buffer.alloc(0);

function parseJson(bytes: Buffer, fallback: (text: string) => unknown): never {
  const text = bytes.toString();
  try {
    return JSON.parse(text) as never;
  } catch {
    return fallback(text) as never;
  }
}
