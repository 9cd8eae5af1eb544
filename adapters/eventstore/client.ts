/**
 * Connects to the event store: the driver's client, with faster appends and reads over the same calls; gives every call
 * a deadline, and translates temporary errors to `UnavailableError`.
 */
import { randomUUID } from 'node:crypto';
import type { Transform } from 'node:stream';
import type {
  AppendResult,
  AppendToStreamOptions,
  EventData,
  ResolvedEvent,
  StreamingRead,
} from '@eventstore/db-client';

// Loaded with `require`: for an import Node would scan half a megabyte for export names.
import errors = require('@eventstore/db-client/dist/streams/appendToStream/unpackError.js');
import driver = require('@eventstore/db-client/dist/utils/index.js');
import services = require('@eventstore/db-client/generated/streams_grpc_pb.js');
import messages = require('@eventstore/db-client/generated/streams_pb.js');

import { STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import { CorruptEventError, type Logger, StoreFullError, UnavailableError } from '../../application/ports/index.js';
import {
  AccessDeniedError,
  ANY,
  DeadlineExceededError,
  EventStoreDBClient,
  InvalidArgumentError,
  MaxAppendSizeExceededError,
  RequiredMetadataPropertyMissingError,
  StreamDeletedError,
  StreamNotFoundError,
  UnknownError,
  UnsupportedError,
  WrongExpectedVersionError,
} from './driver.js';
import { appendRequest, DecodedEvent, readAnswer } from './messages.js';

type Connection = InstanceType<typeof services.StreamsClient>;
type Call = ReturnType<typeof openAppends>;
type Settle = Parameters<ConstructorParameters<typeof Promise<AppendResult>>[0]>;

type Subscribe = InstanceType<typeof EventStoreDBClient>['subscribeToAll'];
type Read = InstanceType<typeof EventStoreDBClient>['readStream'];
type ReadCall = ReturnType<Connection['read']>;
type ReadConnection = Pick<Connection, 'read'>;

const { path: READ, requestSerialize } = services.StreamsService.read;

/** Wraps a connection so that `readAnswer` decodes its responses. */
const decodeReads = (connection: Connection) =>
  ({
    read: (request: InstanceType<typeof messages.ReadReq>, ...how: readonly never[]) =>
      connection.makeServerStreamRequest(READ, requestSerialize, readAnswer, request, ...how),
  }) as unknown as ReadConnection;

const { path: APPEND, responseDeserialize: readAppended } = services.StreamsService.batchAppend;

/** Opens a batch append call with requests of `appendRequest`. */
const openAppends = (connection: Connection, ...how: Required<Parameters<Connection['batchAppend']>>) =>
  connection.makeBidiStreamRequest(APPEND, (request: Buffer) => request, readAppended, ...how);

/** Open append calls by connection. All appends share one call; results arrive in any order. */
const calls = new WeakMap<Connection, Call | Promise<Call>>();
/** Pending appends of a call, by correlation id. */
const pendingAppends = new WeakMap<Call, Map<string, Settle>>();

/**
 * A deadline that never passes. The driver's is a year from now by this machine's clock, which may be years
 * behind.
 */
const NO_DEADLINE = new Date(Date.UTC(9999, 0));

/** gRPC status of the embedded engine for a full disk. */
const RESOURCE_EXHAUSTED = 8;
const DISK_FULL = 'the event store takes no writes: its disk is full';

/** Milliseconds to wait for cancelled calls on dispose. */
const DISPOSE_MS = 1000;

/** Case-insensitive, as in the driver. */
const PREFERENCE = /(?<=[?&]nodePreference=)[^&]*/gi;

/**
 * Directs a connection string to the leader. Followers and replicas lag behind acknowledged writes and would
 * report that a stream does not exist.
 */
export const preferLeader = (url: string): string => url.replace(PREFERENCE, 'leader');

export const connectEventStore = (url: string): FastClient => FastClient.open(preferLeader(url));

export class FastClient extends EventStoreDBClient {
  /** `url`: a connection string. */
  static open(url: string): FastClient {
    // `connectionString` parses addresses but creates plain clients only.
    const client = Object.setPrototypeOf(EventStoreDBClient.connectionString(url), FastClient.prototype);
    if (!(client instanceof FastClient)) throw new Error('unsupported version of the event store driver');
    // The driver's `dispose` ends its calls but leaves the channel open, with its timers.
    const { dispose, getChannel } = client;
    let channel: ReturnType<typeof getChannel> | undefined;
    client.getChannel = () => {
      channel = getChannel();
      return channel;
    };
    client.dispose = async () => {
      // The driver never returns if a stream has failed already.
      await withDeadline(DISPOSE_MS, dispose(), 'the client').catch(() => {});
      // There is no channel if no server was found.
      (await channel?.catch(() => undefined))?.close();
    };
    return client;
  }

  /** Returns this client with `readAnswer` as its decoder. */
  private withFastReads(): FastClient {
    const { GRPCStreamCreator } = this;
    return Object.create(this, {
      GRPCStreamCreator: {
        value: (_: unknown, name: string, begin: (connection: ReadConnection) => ReadCall) =>
          GRPCStreamCreator(services.StreamsClient, name, (connection) => begin(decodeReads(connection))),
      },
    });
  }

  /** Subscribes as the driver does, with faster decoding. */
  override subscribeToAll(...[options, readable]: Parameters<Subscribe>): ReturnType<Subscribe> {
    return passDecoded(super.subscribeToAll.call(this.withFastReads(), options, readable));
  }

  /** Reads as the driver does, with faster decoding. */
  override readStream(...[stream, options, readable]: Parameters<Read>): ReturnType<Read> {
    return passDecoded(super.readStream.call(this.withFastReads(), stream, options, readable));
  }

  /** Version that the server says it has, for example `23.10.6.0`. */
  async serverVersion(): Promise<string> {
    return (await this.capabilities).serverVersion;
  }

  /** Appends in a single message; errors are those of the driver. */
  override async appendToStream(
    stream: string,
    events: EventData | EventData[],
    { expectedRevision = ANY, deadline }: AppendToStreamOptions = {},
  ): Promise<AppendResult> {
    const begin = (connection: Connection) =>
      settleAppends(openAppends(connection, ...this.callArguments({}, { deadline: Number.POSITIVE_INFINITY })));
    const call = await this.GRPCStreamCreator(services.StreamsClient, 'appendToStream', begin, calls)();
    const correlationId = randomUUID();
    const deadlineDate = deadline === Number.POSITIVE_INFINITY ? NO_DEADLINE : this.createDeadline(deadline);
    const options = { correlationId, stream, expected: expectedRevision, deadline: deadlineDate };
    const request = appendRequest([events].flat(), options);
    return new Promise((...settle) => {
      pendingAppends.get(call)?.set(correlationId, settle);
      call.write(request);
    });
  }
}

/** Passes decoded events on directly; the driver checks each for other message kinds, in a promise. */
function passDecoded<Events extends object>(events: Events): Events {
  const stream = events as unknown as Transform;
  const { _transform: transform } = stream;
  stream._transform = (answer, encoding, done) =>
    answer instanceof DecodedEvent ? done(null, answer.event) : transform.call(stream, answer, encoding, done);
  return events;
}

/** Settles the pending appends of a call as results arrive, or when it fails. */
function settleAppends(call: Call): Call {
  const pending = new Map<string, Settle>();
  pendingAppends.set(call, pending);
  const takePending = (id: string) => {
    const settle = pending.get(id);
    pending.delete(id);
    return settle;
  };
  call.on('data', (answer) => {
    const [resolve, reject] = takePending(driver.parseUUID(answer.getCorrelationId()) ?? '') ?? [];
    const success = answer.getSuccess();
    if (success) return resolve?.(resultOf(success));
    const refusal = answer.getError();
    const stream = Buffer.from(answer.getStreamIdentifier()?.getStreamName_asU8() ?? []).toString();
    if (refusal?.getCode() === RESOURCE_EXHAUSTED) reject?.(new StoreFullError(DISK_FULL));
    else if (refusal) reject?.(errors.unpackToCommandError(refusal, stream));
  });
  call.on('error', (error) => {
    for (const [, reject] of pending.values()) reject(driver.convertToCommandError(error));
    pending.clear();
  });
  return call;
}

function resultOf(success: InstanceType<typeof messages.BatchAppendResp.Success>): AppendResult {
  const at = success.getPosition();
  const position = at && { commit: BigInt(at.getCommitPosition()), prepare: BigInt(at.getPreparePosition()) };
  return { success: true, nextExpectedRevision: BigInt(success.getCurrentRevision()), ...(position && { position }) };
}

/** gRPC status of data that is damaged. */
const DATA_LOSS = 15;

/**
 * Errors that are answers of the store. Any other error counts as unavailability: a failover has many error
 * texts, and often none.
 */
const ANSWERS = [
  WrongExpectedVersionError,
  StreamDeletedError,
  StreamNotFoundError,
  MaxAppendSizeExceededError,
  AccessDeniedError,
  InvalidArgumentError,
  RequiredMetadataPropertyMissingError,
  UnsupportedError,
];

/**
 * Runs a call within its deadline. The driver sends a deadline but does not enforce it; a call that was given up
 * may still take effect.
 */
export async function callStore<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await withDeadline(STORE_CALL_MS, call(), 'the event store');
  } catch (error) {
    throw translateError(error);
  }
}

/**
 * Milliseconds before which a timeout error means a clock difference. A cluster without a quorum gives the same
 * error, but after 2 s at the earliest.
 */
const CLOCK_SKEW_MS = 1500;

/**
 * Returns a function that runs an append with a deadline in ms. The driver sends it as an instant of this
 * machine's clock. If that clock is behind the server's, the deadline has passed on arrival: the append is sent
 * again without one, and so are all later ones.
 */
export function createAppendDeadline(logger: Logger) {
  let isBehind = false;
  return async <T>(append: (deadline: number) => Promise<T>): Promise<T> => {
    const without = () => callStore(() => append(Number.POSITIVE_INFINITY));
    if (isBehind) return without();
    const startedAt = performance.now();
    try {
      return await callStore(() => append(STORE_CALL_MS));
    } catch (error) {
      const isRefused = error instanceof UnavailableError && error.cause instanceof DeadlineExceededError;
      if (!isRefused || performance.now() - startedAt >= CLOCK_SKEW_MS) throw error;
    }
    const done = await without();
    if (!isBehind) logger.warn({}, CLOCK_BEHIND);
    isBehind = true;
    return done;
  };
}

const CLOCK_BEHIND =
  "this machine's clock is behind the event store's, so appends have no deadline; correct the clock and restart";

/**
 * Reads all events of a stream. The deadline applies to each event: a long stream may take long, but must not
 * stall.
 */
export async function readAll(open: () => StreamingRead<ResolvedEvent>): Promise<readonly ResolvedEvent[]> {
  const events: ResolvedEvent[] = [];
  const stream = open();
  // Errors after the read was given up.
  stream.on('error', () => {});
  const onTimeout = () => stream.destroy(new UnavailableError(`the event store was silent for ${STORE_CALL_MS} ms`));
  const deadline = setTimeout(onTimeout, STORE_CALL_MS);
  try {
    for await (const resolved of stream) {
      events.push(resolved);
      deadline.refresh();
    }
    return events;
  } catch (error) {
    // An answered read ends by itself. Cancelling it crosses its end on the way, which HTTP/2 counts as an error:
    // after a thousand of them the connection is closed, with all other calls on it.
    if (!(error instanceof StreamNotFoundError)) stream.cancel().catch(() => {});
    throw translateError(error);
  } finally {
    clearTimeout(deadline);
  }
}

/** Translates an error of the driver. */
export function translateError(error: unknown): unknown {
  if (error instanceof UnknownError && error.code === DATA_LOSS)
    return new CorruptEventError(`the log is damaged: ${error.message}`, { cause: error });
  if (error instanceof UnavailableError || ANSWERS.some((answer) => error instanceof answer)) return error;
  return new UnavailableError('the event store is away', { cause: error });
}
