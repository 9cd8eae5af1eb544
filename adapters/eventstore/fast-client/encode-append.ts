/** What an append says and is told, in bytes: by the driver's messages it is made into several objects for each field. */
import type { AppendResult, AppendToStreamOptions, EventData } from '@eventstore/db-client';

// Required: of CommonJS that is imported Node first looks through all for names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { ANY, NO_STREAM, STREAM_EXISTS } from '../driver.js';
import { ENTRY, type Fields, fieldsOf, Message, STREAM_IDENTIFIER, UUID } from './protobuf.js';

/** The fields of `streams.proto`. */
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
  /** The store takes it until then. */
  readonly until: Date;
}

/** All of an append, in one message. */
export function appendRequest(
  events: readonly EventData[],
  { correlationId, stream, expected, until }: Append,
): Buffer {
  const options = new Message()
    .message(OPTIONS.stream, new Message().text(STREAM_IDENTIFIER.name, stream))
    .message(OPTIONS.deadline, timestamp(until.getTime()));
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

/** Bytes stay as they are; all else is JSON. */
const put = (message: Message, field: number, value: unknown) =>
  value instanceof Uint8Array ? message.bytes(field, value) : message.text(field, JSON.stringify(value));

/** What was appended. */
export interface Appended {
  readonly correlationId: string;
  readonly result: AppendResult;
}

type Answer = InstanceType<typeof messages.BatchAppendResp>;

/** For a call of `Streams/BatchAppend`. A refusal is the driver's to read. */
export const readAppended = (bytes: Buffer): Appended | Answer =>
  appended(fieldsOf(bytes)) ?? messages.BatchAppendResp.deserializeBinary(bytes);

function appended(answer: Fields): Appended | undefined {
  let correlationId: string | undefined;
  let result: AppendResult | undefined;
  for (let field = answer.next(); field > 0; field = answer.next())
    if (field === ANSWER.correlationId) correlationId = idOf(answer.message());
    else if (field === ANSWER.success) result = resultOf(answer.message());
    else answer.skip();
  return correlationId !== undefined && result ? { correlationId, result } : undefined;
}

function idOf(id: Fields): string {
  let bits: { readonly high?: bigint; readonly low?: bigint } = {};
  for (let field = id.next(); field > 0; field = id.next())
    if (field === UUID.string) return id.text();
    else if (field === UUID.structured) bits = integersOf(id.message(), STRUCTURED);
    else id.skip();
  const { high = 0n, low = 0n } = bits;
  const digits = ((BigInt.asUintN(64, high) << 64n) | BigInt.asUintN(64, low)).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function resultOf(success: Fields): AppendResult {
  let nextExpectedRevision = 0n;
  let position: AppendResult['position'];
  for (let field = success.next(); field > 0; field = success.next())
    if (field === SUCCESS.revision) nextExpectedRevision = success.integer();
    else if (field === SUCCESS.position) {
      const { commit = 0n, prepare = 0n } = integersOf(success.message(), POSITION);
      position = { commit, prepare };
    } else success.skip();
  return { success: true, nextExpectedRevision, ...(position && { position }) };
}

/** The numbers of a message, by name; a field that is 0 may be missing. */
function integersOf<Name extends string>(
  message: Fields,
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
