/**
 * Decodes events that are read. The driver's messages create several objects for each field and copy each text twice:
 * a tenth of what a short command costs the server, as it reads each event several times.
 */
import type { Transform } from 'node:stream';
import type { ResolvedEvent } from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan half a megabyte for export names.
import services = require('@eventstore/db-client/generated/streams_grpc_pb.js');
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { EventStoreDBClient } from './driver.js';

type Connection = InstanceType<typeof services.StreamsClient>;
type Client = InstanceType<typeof EventStoreDBClient>;

const { path: READ, requestSerialize } = services.StreamsService.read;

/** Reads and subscribes as the driver does, with faster decoding. */
export class FastReadClient extends EventStoreDBClient {
  override subscribeToAll(...args: Parameters<Client['subscribeToAll']>): ReturnType<Client['subscribeToAll']> {
    return passDecoded(super.subscribeToAll.apply(this.withFastReads(), args));
  }

  override readStream(...args: Parameters<Client['readStream']>): ReturnType<Client['readStream']> {
    return passDecoded(super.readStream.apply(this.withFastReads(), args));
  }

  /** Returns this client with connections whose responses `decodeAnswer` decodes. */
  private withFastReads(): FastReadClient {
    const { GRPCStreamCreator } = this;
    const decoding = (connection: Connection) =>
      ({
        read: (request: InstanceType<typeof messages.ReadReq>, ...how: readonly never[]) =>
          connection.makeServerStreamRequest(READ, requestSerialize, decodeAnswer, request, ...how),
      }) as unknown as Connection;
    return Object.create(this, {
      GRPCStreamCreator: {
        value: (_: unknown, name: string, begin: (connection: Connection) => ReturnType<Connection['read']>) =>
          GRPCStreamCreator(services.StreamsClient, name, (connection) => begin(decoding(connection))),
      },
    });
  }
}

/** Passes decoded events on directly; the driver checks each for other message kinds, in a promise. */
function passDecoded<Events extends object>(events: Events): Events {
  const stream = events as unknown as Transform;
  const { _transform: transform } = stream;
  stream._transform = (answer, encoding, done) =>
    answer instanceof messages.ReadResp ? transform.call(stream, answer, encoding, done) : done(null, answer);
  return events;
}

/** Decodes a response of `Streams/Read`; the driver decodes everything but plain events in JSON. */
export const decodeAnswer = (bytes: Buffer): ResolvedEvent | InstanceType<typeof messages.ReadResp> =>
  decodeEvent(bytes) ?? messages.ReadResp.deserializeBinary(bytes);

/** Field numbers of `streams.proto` and `shared.proto`; the event of a response has that of a `ReadEvent`. */
const READ_EVENT = { event: 1, commitPosition: 3, noPosition: 4 };
const RECORDED = { id: 1, stream: 2, revision: 3, prepare: 4, commit: 5, metadata: 6, custom: 7, data: 8 };
const TEXTS = { uuid: 2, streamName: 3, key: 1, value: 2 };

function decodeEvent(bytes: Buffer): ResolvedEvent | undefined {
  const answer = new FieldReader(bytes);
  if (answer.next() !== READ_EVENT.event) return undefined;
  const resolved = answer.message();
  let event: ResolvedEvent['event'];
  let commitPosition: bigint | undefined;
  for (let field = resolved.next(); field > 0; field = resolved.next()) {
    if (field === READ_EVENT.event) event = decodeRecorded(resolved.message());
    else if (field === READ_EVENT.commitPosition) commitPosition = resolved.integer();
    else if (field === READ_EVENT.noPosition) resolved.message();
    // A link event; this client never resolves links.
    else return undefined;
  }
  return event && { event, ...(commitPosition !== undefined && { commitPosition }) };
}

function decodeRecorded(fields: FieldReader): ResolvedEvent['event'] {
  let [id, streamId]: (string | undefined)[] = [];
  const map: { [key: string]: string } = {};
  let [revision, prepare, commit] = [0n, 0n, 0n];
  let [custom, data] = ['', ''];
  for (let field = fields.next(); field > 0; field = fields.next()) {
    if (field === RECORDED.id) id = fields.message().texts()[TEXTS.uuid];
    else if (field === RECORDED.stream) streamId = fields.message().texts()[TEXTS.streamName];
    else if (field === RECORDED.revision) revision = fields.integer();
    else if (field === RECORDED.prepare) prepare = fields.integer();
    else if (field === RECORDED.commit) commit = fields.integer();
    else if (field === RECORDED.metadata) {
      const entry = fields.message().texts();
      map[entry[TEXTS.key] ?? ''] = entry[TEXTS.value] ?? '';
    } else if (field === RECORDED.custom) custom = fields.text();
    else if (field === RECORDED.data) data = fields.text();
    else return undefined;
  }
  const { type, 'content-type': contentType, created = '0' } = map;
  if (!id || !streamId || !type || contentType !== 'application/json') return undefined;
  // `created` is in ticks of 100 ns; they have more decimal digits than a number holds exactly.
  const at = { created: new Date(Number(created.slice(0, -4))), position: { commit, prepare } };
  try {
    const metadata = custom === '' ? undefined : JSON.parse(custom);
    return { id, streamId, revision, type, isJson: true, data: JSON.parse(data), metadata, ...at };
  } catch {
    return undefined;
  }
}

const LENGTH_DELIMITED = 2;

/** Reads one message of protocol buffers field by field. Throws if it is truncated. */
class FieldReader {
  private wire = 0;

  constructor(
    private readonly buffer: Buffer,
    private at = 0,
    private readonly end = buffer.length,
  ) {}

  /** Returns the number of the next field, 0 at the end. */
  next(): number {
    if (this.at >= this.end) return 0;
    const tag = this.number();
    this.wire = tag & 7;
    return tag >>> 3;
  }

  integer(): bigint {
    const from = this.at;
    const value = this.number();
    if (value <= Number.MAX_SAFE_INTEGER) return BigInt(value);
    return this.buffer.subarray(from, this.at).reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n);
  }

  message(): FieldReader {
    const end = this.number() + this.at;
    if (end > this.end) throw new RangeError('a message of the event store breaks off');
    const inner = new FieldReader(this.buffer, this.at, end);
    this.at = end;
    return inner;
  }

  text(): string {
    const { at, end } = this.message();
    return this.buffer.toString('utf8', at, end);
  }

  /** Returns the text fields of this message by number; none if it has others. */
  texts(): (string | undefined)[] {
    const texts: (string | undefined)[] = [];
    for (let field = this.next(); field > 0; field = this.next()) {
      if (this.wire !== LENGTH_DELIMITED) return [];
      texts[field] = this.text();
    }
    return texts;
  }

  /** Exact up to 2^53. */
  private number(): number {
    let value = 0;
    for (let factor = 1; this.at < this.end; factor *= 128) {
      const byte = this.buffer[this.at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a message of the event store breaks off');
  }
}
