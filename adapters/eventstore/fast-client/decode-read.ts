/**
 * What a subscription says, and a stream that is read, from its bytes: the driver makes several objects of each field,
 * and copies each text twice, which was a third of all that it costs to write an event and to hear of it.
 */
import type { ResolvedEvent } from '@eventstore/db-client';

// Required: of CommonJS that is imported Node first looks through all for names.
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { type Fields, fieldsOf, STREAM_IDENTIFIER, UUID } from './protobuf.js';

type Answer = InstanceType<typeof messages.ReadResp>;

/** In the place of the driver's message: an event that is read already. */
export class HeardEvent {
  constructor(readonly event: ResolvedEvent) {}
}

/** For a call of `Streams/Read`. What is no plain event is the driver's to read. */
export const readAnswer = (bytes: Buffer): HeardEvent | Answer => {
  const event = eventOf(bytes);
  return event ? new HeardEvent(event) : messages.ReadResp.deserializeBinary(bytes);
};

/** The fields of `streams.proto` and `shared.proto`. */
const READ_RESP = { event: 1 };
const READ_EVENT = { event: 1, commitPosition: 3, noPosition: 4 };
const RECORDED = { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, metadata: 6, custom: 7, data: 8 };

/** Of ticks of 100 ns since 1970, in decimal digits: more of them than a number holds exactly. */
const msOf = (ticks: string): number => Number(ticks.slice(0, -4));

function eventOf(bytes: Buffer): ResolvedEvent | undefined {
  const answer = fieldsOf(bytes);
  if (answer.next() !== READ_RESP.event) return undefined;
  const resolved = answer.message();
  let event: ResolvedEvent['event'];
  let commitPosition: bigint | undefined;
  for (let field = resolved.next(); field > 0; field = resolved.next()) {
    if (field === READ_EVENT.event) event = recorded(resolved.message());
    else if (field === READ_EVENT.commitPosition) commitPosition = resolved.integer();
    else if (field === READ_EVENT.noPosition) resolved.skip();
    // A link, which nobody here asks to be resolved.
    else return undefined;
  }
  return event && { event, ...(commitPosition !== undefined && { commitPosition }) };
}

function recorded(fields: Fields): ResolvedEvent['event'] {
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
    metadata: custom?.length ? parsed(custom, () => Uint8Array.from(custom)) : undefined,
  };
  return contentType === 'application/json'
    ? { ...common, isJson: true, data: parsed(data ?? NOTHING, (text) => text) }
    : { ...common, isJson: false, data: Uint8Array.from(data ?? NOTHING) };
}

const NOTHING = Buffer.alloc(0);

function parsed(bytes: Buffer, otherwise: (text: string) => unknown): never {
  const text = bytes.toString();
  try {
    return JSON.parse(text) as never;
  } catch {
    return otherwise(text) as never;
  }
}
