/** Gives every MongoDB call a deadline, and translates temporary driver errors to `UnavailableError`. */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import {
  AbstractCursor,
  Collection,
  Db,
  MongoBulkWriteError,
  MongoClientClosedError,
  MongoError,
  MongoErrorLabel,
  MongoExpiredSessionError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerClosedError,
  MongoServerError,
  MongoSystemError,
  MongoTopologyClosedError,
} from 'mongodb';
import { REQUEST_MS, STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import { StoreFullError, UnavailableError } from '../../application/ports/index.js';

/** Calls that scan a whole collection; no request waits for them. */
const SLOW_CALLS: ReadonlySet<unknown> = new Set(['createIndex', 'createIndexes', 'drop', 'dropDatabase']);
const SLOW_CALL_MS = 60_000;

/**
 * Wraps a database, collection or cursor, and everything it returns. Each call gets a deadline and rejects with
 * `UnavailableError` when the server is unreachable, stepping down, out of disk, silent or damaged. Other errors
 * of the server stay the driver's own.
 * The server stops abandoned work: a call by its time limit, a query because its connection is closed
 * (`onAbandon`).
 */
export function withCallPolicy<Target extends object>(target: Target, onAbandon?: () => void): Target {
  const proxy: Target = new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name === 'toArray' && proxy instanceof AbstractCursor) return () => readAll(proxy);
      return (...args: readonly unknown[]) => {
        if (target instanceof Collection && name === 'find') return startQuery(target, args);
        const result: unknown = member.apply(target, target instanceof Collection ? withTimeLimit(name, args) : args);
        if (result === target) return proxy;
        if (result instanceof Promise)
          return callServer(result, SLOW_CALLS.has(name) ? SLOW_CALL_MS : STORE_CALL_MS, onAbandon);
        return callsServer(result) ? withCallPolicy(result, onAbandon) : result;
      };
    },
  });
  return proxy;
}

/** Aborts an abandoned query: its `maxTimeMS` would cover all batches, while each batch may take a full call. */
function startQuery(rows: Collection, [filter, options]: readonly unknown[]) {
  const abandoned = new AbortController();
  const cursor = rows.find(Object.assign({}, filter), Object.assign({ signal: abandoned.signal }, options));
  return withCallPolicy(cursor, () => abandoned.abort());
}

/** Calls that get a server-side time limit, with the index of their options argument. */
const OPTIONS: { readonly [call in keyof Collection]?: number } = {
  bulkWrite: 1,
  countDocuments: 1,
  deleteMany: 1,
  deleteOne: 1,
  findOne: 1,
  findOneAndUpdate: 2,
  insertOne: 1,
  replaceOne: 2,
  updateMany: 2,
  updateOne: 2,
};

function withTimeLimit(name: string | symbol, args: readonly unknown[]): readonly unknown[] {
  const index = OPTIONS[name as keyof Collection];
  if (index === undefined) return args;
  const options = Object.assign({ maxTimeMS: STORE_CALL_MS }, args[index]);
  return Array.from({ length: index + 1 }, (_, each) => (each === index ? options : args[each]));
}

const callsServer = (result: unknown): result is object =>
  result instanceof Db ||
  result instanceof Collection ||
  result instanceof AbstractCursor ||
  (typeof result === 'object' && result !== null && Symbol.asyncIterator in result);

/** Reads all documents with a deadline per batch, and that of a request for all; the driver's `toArray` is one call. */
async function readAll<T>(cursor: AbstractCursor<T>): Promise<T[]> {
  const deadline = performance.now() + REQUEST_MS;
  const all: T[] = [];
  try {
    while (await cursor.hasNext()) {
      for (const document of cursor.readBufferedDocuments()) all.push(document);
      if (performance.now() > deadline) throw new UnavailableError(`MongoDB was not done within ${REQUEST_MS} ms`);
    }
    return all;
  } finally {
    cursor.close().catch(() => {});
  }
}

/** Awaits one call within a deadline. `onTimeout` runs when the call is given up. */
export async function callServer<T>(call: Promise<T>, ms: number, onTimeout?: () => void): Promise<T> {
  try {
    return await withDeadline(ms, call, 'MongoDB');
  } catch (error) {
    if (error instanceof UnavailableError) onTimeout?.();
    if (isDiskFull(error)) throw new StoreFullError('MongoDB takes no writes: its disk is full', { cause: error });
    if (isUnavailable(error)) throw new UnavailableError('MongoDB does not answer', { cause: error });
    if (isDamage(error)) throw new UnavailableError('MongoDB found damage in what it stores', { cause: error });
    throw error;
  }
}

const UNAVAILABLE_ERRORS = [
  MongoNetworkError,
  MongoSystemError,
  MongoOperationTimeoutError,
  MongoTopologyClosedError,
  MongoServerClosedError,
  MongoNotConnectedError,
  MongoClientClosedError,
  MongoExpiredSessionError,
];

const UNAVAILABLE_NAMES: ReadonlySet<string> = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

const UNAVAILABLE_CODES: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  43, // CursorNotFound: it was opened on a server that is no longer the primary
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  146, // ExceededMemoryLimit: of the embedded engine, under concurrent load
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  262, // ExceededTimeLimit
  9001, // SocketException
  10058, // LegacyNotPrimary
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11601, // Interrupted
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
]);

/** Whether an insert or upsert collided with an existing row. */
export const isDuplicateKey = (error: unknown): boolean => error instanceof MongoServerError && error.code === 11000;

/** OutOfDiskSpace: the server still serves reads. */
const isDiskFull = (error: unknown): boolean =>
  (error instanceof MongoServerError && error.code === 14031) ||
  (error instanceof MongoBulkWriteError && isDiskFull(error.errorResponse));

/** DataCorruptionDetected: temporary here, since it may be repaired or restored while this process runs. */
const isDamage = (error: unknown): boolean => error instanceof MongoServerError && error.code === 301;

function isUnavailable(error: unknown): boolean {
  if (!(error instanceof MongoError)) return isSocketError(error);
  if (UNAVAILABLE_ERRORS.some((unavailable) => error instanceof unavailable)) return true;
  if (error.hasErrorLabel(MongoErrorLabel.RetryableWriteError)) return true;
  if (UNAVAILABLE_NAMES.has(error.name)) return true;
  if (error instanceof MongoBulkWriteError && isUnavailable(error.errorResponse)) return true;
  return error instanceof MongoServerError && UNAVAILABLE_CODES.has(error.code);
}

/** Errors of Node for writes to a closed socket. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** The driver passes on raw socket errors while it waits for a socket to drain. */
const isSocketError = (error: unknown): boolean =>
  error instanceof Error && ('syscall' in error || ('code' in error && SOCKET_CODES.has(error.code)));

interface DriverConnection {
  readonly socket: Socket;
  writeCommand(...args: unknown[]): Promise<void>;
}

/**
 * Makes the driver (7.9.0) fail where it would wait for ever: for the drain of a destroyed socket. It wrote its
 * heartbeat to one when a network failure closed all connections together, and never connected again.
 */
function refuseDestroyedSockets(): void {
  const driver = createRequire(import.meta.url)('mongodb/lib/cmap/connection.js') as {
    readonly Connection: { readonly prototype: DriverConnection };
  };
  const { prototype } = driver.Connection;
  const { writeCommand } = prototype;
  prototype.writeCommand = function (this: DriverConnection, ...args) {
    if (this.socket.destroyed) return Promise.reject(new MongoNetworkError('the connection was closed'));
    return writeCommand.apply(this, args);
  };
}
refuseDestroyedSockets();
