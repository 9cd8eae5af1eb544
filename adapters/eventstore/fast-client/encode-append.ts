/** Encodes append requests and decodes their results. The driver's messages create several objects for each field. */
import type { AppendResult, AppendToStreamOptions, EventData } from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan it for export names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { ANY, NO_STREAM, STREAM_EXISTS } from '../driver.js';
import { ENTRY, type FieldReader, Message, readFields, STREAM_IDENTIFIER, UUID } from './protobuf.js';

/** Field numbers of `streams.proto`. */
const REQUEST = { correlationId: 1, options: 2, proposed: 3, isFinal: 4 };
const OPTIONS = { stream: 1, revision: 2, noStream: 3, any: 4, streamExists: 5, deadline: 6 };
const TIMESTAMP = { seconds: 1, nanos: 2 };
const PROPOSED = { id: 1, metadata: 2, custom: 3, data: 4 };
const ANSWER = { correlationId: 1, success: 3 };
const SUCCESS = { revision: 1, position: 3 };
const POSITION = { commit: 1, prepare: 2 };
const STRUCTURED = { high: 1, low: 2 };

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

/** The result of a successful append. */
export interface Appended {
  readonly correlationId: string;
  readonly result: AppendResult;
}

type Answer = InstanceType<typeof messages.BatchAppendResp>;

/** Decodes a response of `Streams/BatchAppend`; the driver decodes refusals. */
export const readAppended = (bytes: Buffer): Appended | Answer =>
  decodeAppended(readFields(bytes)) ?? messages.BatchAppendResp.deserializeBinary(bytes);

function decodeAppended(answer: FieldReader): Appended | undefined {
  let correlationId: string | undefined;
  let result: AppendResult | undefined;
  for (let field = answer.next(); field > 0; field = answer.next())
    if (field === ANSWER.correlationId) correlationId = decodeUuid(answer.message());
    else if (field === ANSWER.success) result = decodeResult(answer.message());
    else answer.skip();
  return correlationId !== undefined && result ? { correlationId, result } : undefined;
}

function decodeUuid(id: FieldReader): string {
  let bits: { readonly high?: bigint; readonly low?: bigint } = {};
  for (let field = id.next(); field > 0; field = id.next())
    if (field === UUID.string) return id.text();
    else if (field === UUID.structured) bits = readIntegers(id.message(), STRUCTURED);
    else id.skip();
  const { high = 0n, low = 0n } = bits;
  const digits = ((BigInt.asUintN(64, high) << 64n) | BigInt.asUintN(64, low)).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function decodeResult(success: FieldReader): AppendResult {
  let nextExpectedRevision = 0n;
  let position: AppendResult['position'];
  for (let field = success.next(); field > 0; field = success.next())
    if (field === SUCCESS.revision) nextExpectedRevision = success.integer();
    else if (field === SUCCESS.position) {
      const { commit = 0n, prepare = 0n } = readIntegers(success.message(), POSITION);
      position = { commit, prepare };
    } else success.skip();
  return { success: true, nextExpectedRevision, ...(position && { position }) };
}

/** Reads the integer fields of a message by name; a field that is 0 may be missing. */
function readIntegers<Name extends string>(
  message: FieldReader,
  names: { readonly [name in Name]: number },
): { readonly [name in Name]?: bigint } {
  const found: { [name in Name]?: bigint } = {};
  for (let field = message.next(); field > 0; field = message.next()) {
    let name: Name | undefined;
    for (const each in names) if (names[each] === field) name = each;
    if (name) found[name] = message.integer();
    else message.skip();
  }
  return found;
}
