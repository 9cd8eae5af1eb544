/**
 * Encodes append requests and decodes events. The driver's messages create several objects for each field and copy
 * each text twice: a sixth of the cost of a short command.
 */
import type { AppendToStreamOptions, EventData, ResolvedEvent } from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan them for export names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');
import protobuf = require('protobufjs/minimal');

import { ANY, NO_STREAM, STREAM_EXISTS } from './driver.js';

/** Field numbers of `streams.proto` and `shared.proto`. */
const UUID = { string: 2 };
const STREAM_IDENTIFIER = { name: 3 };
const REQUEST = { correlationId: 1, options: 2, proposed: 3, isFinal: 4 };
const OPTIONS = { stream: 1, revision: 2, noStream: 3, any: 4, streamExists: 5, deadline: 6 };
const TIMESTAMP = { seconds: 1, nanos: 2 };
const PROPOSED = { id: 1, metadata: 2, custom: 3, data: 4 };
const ENTRY = { key: 1, value: 2 };
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
  const writer = protobuf.Writer.create();
  const ms = deadline.getTime();
  textMessage(writer, REQUEST.correlationId, UUID.string, correlationId);
  bytesTag(writer, REQUEST.options).fork();
  textMessage(writer, OPTIONS.stream, STREAM_IDENTIFIER.name, stream);
  bytesTag(writer, OPTIONS.deadline).fork();
  integerTag(writer, TIMESTAMP.seconds).uint64(Math.floor(ms / 1000));
  integerTag(writer, TIMESTAMP.nanos).uint32((ms % 1000) * 1e6);
  writer.ldelim();
  if (typeof expected === 'bigint') integerTag(writer, OPTIONS.revision).uint64(Number(expected));
  else bytesTag(writer, EXPECTED[expected]).uint32(0);
  writer.ldelim();
  for (const event of events) writeProposed(writer, event);
  return bufferOf(integerTag(writer, REQUEST.isFinal).bool(true).finish());
}

/** Fields of empty messages. */
const EXPECTED = { [ANY]: OPTIONS.any, [NO_STREAM]: OPTIONS.noStream, [STREAM_EXISTS]: OPTIONS.streamExists };

type Writer = InstanceType<typeof protobuf.Writer>;

const integerTag = (writer: Writer, field: number) => writer.uint32(field << 3);
const bytesTag = (writer: Writer, field: number) => writer.uint32((field << 3) | 2);
const textMessage = (writer: Writer, field: number, inner: number, text: string) =>
  bytesTag(bytesTag(writer, field).fork(), inner).string(text).ldelim();

function writeProposed(writer: Writer, { id, type, contentType, data, metadata }: EventData): void {
  bytesTag(writer, REQUEST.proposed).fork();
  textMessage(writer, PROPOSED.id, UUID.string, id);
  writeEntry(writer, 'type', type);
  writeEntry(writer, 'content-type', contentType);
  if (metadata) writeContent(writer, PROPOSED.custom, metadata);
  writeContent(writer, PROPOSED.data, data);
  writer.ldelim();
}

function writeEntry(writer: Writer, key: string, value: string): void {
  bytesTag(bytesTag(writer, PROPOSED.metadata).fork(), ENTRY.key).string(key);
  bytesTag(writer, ENTRY.value).string(value).ldelim();
}

/** Bytes are written unchanged; everything else as JSON. */
const writeContent = (writer: Writer, field: number, value: unknown) =>
  value instanceof Uint8Array
    ? bytesTag(writer, field).bytes(value)
    : bytesTag(writer, field).string(JSON.stringify(value));

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
  const answer = protobuf.Reader.create(bytes);
  if (answer.len === 0 || answer.uint32() >>> 3 !== READ_RESP.event) return undefined;
  let isPlain = true;
  const resolved: { event?: ResolvedEvent['event']; commitPosition?: bigint } = {};
  readMessage(answer, (field) => {
    if (field === READ_EVENT.event) resolved.event = decodeRecorded(answer);
    else if (field === READ_EVENT.commitPosition) resolved.commitPosition = integer(answer);
    else {
      // A link event; this client never resolves links.
      isPlain &&= field === READ_EVENT.noPosition;
      return false;
    }
    return true;
  });
  return isPlain && resolved.event ? resolved : undefined;
}

function decodeRecorded(reader: Reader): ResolvedEvent['event'] {
  let [id, streamId, type, contentType, created] = ['', '', '', '', '0'];
  let [revision, prepare, commit] = [0n, 0n, 0n];
  let custom: Buffer = EMPTY;
  let data: Buffer = EMPTY;
  let key = '';
  let value = '';
  const readEntry = (field: number) => {
    if (field === ENTRY.key) key = reader.string();
    else if (field === ENTRY.value) value = reader.string();
    else return false;
    return true;
  };
  readMessage(reader, (field) => {
    if (field === RECORDED.id) id = readText(reader, UUID.string);
    else if (field === RECORDED.stream) streamId = readText(reader, STREAM_IDENTIFIER.name);
    else if (field === RECORDED.revision) revision = integer(reader);
    else if (field === RECORDED.prepare) prepare = integer(reader);
    else if (field === RECORDED.commit) commit = integer(reader);
    else if (field === RECORDED.metadata) {
      key = value = '';
      readMessage(reader, readEntry);
      if (key === 'type') type = value;
      else if (key === 'content-type') contentType = value;
      else if (key === 'created') created = value;
    } else if (field === RECORDED.custom) custom = bufferOf(reader.bytes());
    else if (field === RECORDED.data) data = bufferOf(reader.bytes());
    else return false;
    return true;
  });
  if (!id || !streamId || !type) return undefined;
  const isJson = contentType === 'application/json';
  // One literal: a spread would cost as much as all the decoding.
  return {
    id,
    streamId,
    revision,
    type,
    created: new Date(msOf(created)),
    position: { commit, prepare },
    metadata: custom.length ? parseJson(custom, () => Uint8Array.from(custom)) : undefined,
    isJson,
    data: isJson ? parseJson(data, (text) => text) : Uint8Array.from(data),
  } as ResolvedEvent['event'];
}

type Reader = InstanceType<typeof protobuf.Reader>;

/** Calls `read` at each field of a message; it returns false for fields that it has not read. Throws if truncated. */
function readMessage(reader: Reader, read: (field: number) => boolean): void {
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (!read(tag >>> 3)) reader.skipType(tag & 7);
  }
  if (reader.pos > end) throw new RangeError('a message of the event store is truncated');
}

/** Reads a message and returns one text of it; empty if that is missing. */
function readText(reader: Reader, textField: number): string {
  let text = '';
  readMessage(reader, (field) => {
    if (field === textField) text = reader.string();
    return field === textField;
  });
  return text;
}

const bufferOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

function integer(reader: Reader): bigint {
  const value = reader.uint64();
  return typeof value === 'number' ? BigInt(value) : (BigInt(value.high >>> 0) << 32n) | BigInt(value.low >>> 0);
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
