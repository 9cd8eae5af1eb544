/**
 * The driver's client with an append of its own, over the same call: the driver's puts every event into bytes twice,
 * and its data into base64 and back each time, which was a twentieth of all that a short command costs. What it
 * hears and reads is read in fewer steps, too, and never broken off.
 */
import { randomUUID } from 'node:crypto';
import type { Transform } from 'node:stream';
import type { AppendResult, AppendToStreamOptions, EventData, ResolvedEvent } from '@eventstore/db-client';

// Required: of CommonJS that is imported Node first looks through all for names, and this is half a megabyte.
import unpacking = require('@eventstore/db-client/dist/streams/appendToStream/unpackError.js');
import driver = require('@eventstore/db-client/dist/utils/index.js');
import services = require('@eventstore/db-client/generated/streams_grpc_pb.js');
import messages = require('@eventstore/db-client/generated/streams_pb.js');
import empty = require('google-protobuf/google/protobuf/empty_pb.js');
import timestamps = require('google-protobuf/google/protobuf/timestamp_pb.js');

import { ANY, EventStoreDBClient, NO_STREAM, STREAM_EXISTS, StreamNotFoundError } from './driver.js';
import { HeardEvent, readAnswer } from './reading.js';

type Connection = InstanceType<typeof services.StreamsClient>;
type Call = ReturnType<Connection['batchAppend']>;
type Waiting = Parameters<ConstructorParameters<typeof Promise<AppendResult>>[0]>;

type Subscribe = InstanceType<typeof EventStoreDBClient>['subscribeToAll'];
type Read = InstanceType<typeof EventStoreDBClient>['readStream'];
type Reading = ReturnType<Connection['read']>;
type ReadingConnection = Pick<Connection, 'read'>;
type ReadEvent = InstanceType<typeof messages.ReadResp.ReadEvent>;

const { path: READ, requestSerialize } = services.StreamsService.read;

/** A connection whose answers are read by `readAnswer`. */
const readingOf = (connection: Connection) =>
  ({
    read: (request: InstanceType<typeof messages.ReadReq>, ...how: readonly never[]) =>
      connection.makeServerStreamRequest(READ, requestSerialize, readAnswer, request, ...how),
  }) as unknown as ReadingConnection;

const resolved = (event: ResolvedEvent | ReadEvent) =>
  'hasEvent' in event ? driver.convertGrpcEvent(event) : event;

/** All appends of a connection go over one call, and its answers come in any order. */
const calls = new WeakMap<Connection, Call | Promise<Call>>();
/** By correlation id: who waits for an answer over a call. */
const waiting = new WeakMap<Call, Map<string, Waiting>>();

/** By every clock: what the driver takes for never is a year from now by this machine's, which may be years behind. */
const NEVER = new Date(Date.UTC(9999, 0));

export class AppendingClient extends EventStoreDBClient {
  /** `url`: a connection string. */
  static open(url: string): AppendingClient {
    // `connectionString` knows how to read addresses, but only makes plain clients.
    const client = Object.setPrototypeOf(EventStoreDBClient.connectionString(url), AppendingClient.prototype);
    if (!(client instanceof AppendingClient)) throw new Error('not the driver that this was written for');
    // The driver ends its calls and leaves the connection open, with timers that nobody ends.
    const { dispose, getChannel } = client;
    let channel: ReturnType<typeof getChannel> | undefined;
    client.getChannel = () => {
      channel = getChannel();
      return channel;
    };
    client.dispose = async () => {
      await dispose();
      // One that was never made, as no server was found, needs no end.
      (await channel?.catch(() => undefined))?.close();
    };
    return client;
  }

  /** As the driver's, over the same call; events are read in fewer steps. */
  override subscribeToAll(...[options, readable]: Parameters<Subscribe>): ReturnType<Subscribe> {
    const { GRPCStreamCreator } = this;
    const reading: AppendingClient = Object.create(this, {
      GRPCStreamCreator: {
        value: (_: unknown, name: string, begin: (connection: ReadingConnection) => Reading) =>
          GRPCStreamCreator(services.StreamsClient, name, (connection) => begin(readingOf(connection))),
      },
    });
    const subscription = super.subscribeToAll.call(reading, options, readable);
    const converted = { convertGrpcEvent: (event: ResolvedEvent | ReadEvent) => resolved(event) };
    return Object.assign(subscription, converted);
  }

  /** As the driver's, but that what is not there is read to its end, too, and the rest in fewer steps. */
  override readStream(...[stream, options, readable]: Parameters<Read>): ReturnType<Read> {
    const { GRPCStreamCreator } = this;
    const reading: AppendingClient = Object.create(this, {
      GRPCStreamCreator: {
        value: (_: unknown, name: string, begin: (connection: ReadingConnection) => Reading) =>
          GRPCStreamCreator(services.StreamsClient, name, (connection) =>
            toItsEnd(begin(readingOf(connection))),
          ),
      },
    });
    const events = super.readStream.call(reading, stream, options, readable) as ReturnType<Read> & Transform;
    const { _transform: converted } = events;
    events._transform = (answer, encoding, done) =>
      answer instanceof HeardEvent
        ? done(null, answer.event)
        : converted.call(events, answer, encoding, done);
    return events;
  }

  /** Rejects as the driver's does. What is appended goes in one message, and is answered as a whole. */
  override async appendToStream(
    stream: string,
    events: EventData | EventData[],
    { expectedRevision = ANY, deadline }: AppendToStreamOptions = {},
  ): Promise<AppendResult> {
    const begin = (connection: Connection) =>
      heard(connection.batchAppend(...this.callArguments({}, { deadline: Number.POSITIVE_INFINITY })));
    const call = await this.GRPCStreamCreator(services.StreamsClient, 'appendToStream', begin, calls)();
    const correlationId = randomUUID();
    const request = new messages.BatchAppendReq();
    request.setCorrelationId(driver.createUUID(correlationId));
    const until = deadline === Number.POSITIVE_INFINITY ? NEVER : this.createDeadline(deadline);
    request.setOptions(optionsOf(stream, expectedRevision, until));
    request.setProposedMessagesList([events].flat().map(proposed));
    request.setIsFinal(true);
    return new Promise((...each) => {
      waiting.get(call)?.set(correlationId, each);
      call.write(request);
    });
  }
}

/**
 * A read that the driver breaks off as soon as it hears that there is no such stream. Servers count what is broken off,
 * and end the connection, with all that is under way on it, where it is some tens a second; so it is told at the end.
 */
function toItsEnd(call: Reading): Reading {
  const destroy = call.destroy.bind(call);
  call.destroy = (error) => {
    if (!(error instanceof StreamNotFoundError)) return destroy(error);
    // Before who reads it hears of the end.
    call.prependOnceListener('end', () => call.emit('error', error));
    return call;
  };
  return call;
}

/** A call whose answers are told to who waits for them; who waits for none when it ends is told so, too. */
function heard(call: Call): Call {
  const unanswered = new Map<string, Waiting>();
  waiting.set(call, unanswered);
  call.on('data', (answer: InstanceType<typeof messages.BatchAppendResp>) => {
    const id = driver.parseUUID(answer.getCorrelationId()) ?? '';
    const [resolve, reject] = unanswered.get(id) ?? [];
    unanswered.delete(id);
    const refusal = answer.getError();
    const stream = Buffer.from(answer.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    if (refusal) reject?.(unpacking.unpackToCommandError(refusal, stream));
    else resolve?.(resultOf(answer.getSuccess()!));
  });
  call.on('error', (error) => {
    for (const [, reject] of unanswered.values()) reject(driver.convertToCommandError(error));
    unanswered.clear();
  });
  return call;
}

function optionsOf(
  stream: string,
  expected: NonNullable<AppendToStreamOptions['expectedRevision']>,
  deadline: Date,
) {
  const options = new messages.BatchAppendReq.Options();
  options.setStreamIdentifier(driver.createStreamIdentifier(stream));
  options.setDeadline(timestamps.Timestamp.fromDate(deadline));
  if (expected === ANY) options.setAny(new empty.Empty());
  else if (expected === NO_STREAM) options.setNoStream(new empty.Empty());
  else if (expected === STREAM_EXISTS) options.setStreamExists(new empty.Empty());
  else options.setStreamPosition(String(expected));
  return options;
}

function proposed({ id, type, contentType, data, metadata }: EventData) {
  const message = new messages.BatchAppendReq.ProposedMessage();
  message.setId(driver.createUUID(id));
  message.getMetadataMap().set('type', type).set('content-type', contentType);
  message.setData(bytesOf(data));
  if (metadata) message.setCustomMetadata(bytesOf(metadata));
  return message;
}

/** Bytes stay as they are; all else is JSON. */
const bytesOf = (value: unknown) =>
  value instanceof Uint8Array ? value : Buffer.from(JSON.stringify(value));

function resultOf(success: InstanceType<typeof messages.BatchAppendResp.Success>): AppendResult {
  const at = success.getPosition();
  return {
    success: true,
    nextExpectedRevision: BigInt(success.getCurrentRevision()),
    ...(at && {
      position: { commit: BigInt(at.getCommitPosition()), prepare: BigInt(at.getPreparePosition()) },
    }),
  };
}
