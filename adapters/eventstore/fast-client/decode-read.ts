/**
 * Decodes responses of reads and subscriptions. The driver creates several objects per field and copies each text
 * twice, which was a third of the cost of writing and receiving an event.
 */
import type { ResolvedEvent } from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan it for export names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { type FieldReader, readFields, STREAM_IDENTIFIER, UUID } from './protobuf.js';

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

/** Field numbers of `streams.proto` and `shared.proto`. */
const READ_RESP = { event: 1 };
const READ_EVENT = { event: 1, commitPosition: 3, noPosition: 4 };
const RECORDED = { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, metadata: 6, custom: 7, data: 8 };

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
