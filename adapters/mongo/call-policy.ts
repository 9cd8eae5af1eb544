/** The one place where a call to MongoDB gets its deadline and where the driver's "not now" becomes `Unavailable`. */
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

/** These work through all that is stored, and nobody's request waits for them. */
const LONG: ReadonlySet<unknown> = new Set(['createIndex', 'createIndexes', 'drop', 'dropDatabase']);
const LONG_MS = 60_000;

/**
 * The same database, collection or cursor, and so is whatever it hands out: every call answers within a deadline,
 * and rejects with `Unavailable` when the server is away, stepping down, out of disk, silent or damaged. What the server
 * refuses for another reason rejects with the driver's own error. What nobody waits for any more the server is made to
 * give up: a call by the time that it has, and a search (`leave`) as its connection is cut.
 */
export function withCallPolicy<Target extends object>(target: Target, leave?: () => void): Target {
  const proxy: Target = new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      if (name === 'toArray' && proxy instanceof AbstractCursor) return () => allOf(proxy);
      return (...args: readonly unknown[]) => {
        if (target instanceof Collection && name === 'find') return searching(target, args);
        const given: unknown = member.apply(target, target instanceof Collection ? timed(name, args) : args);
        if (given === target) return proxy;
        if (given instanceof Promise) return answered(given, LONG.has(name) ? LONG_MS : STORE_CALL_MS, leave);
        return speaksToServer(given) ? withCallPolicy(given, leave) : given;
      };
    },
  });
  return proxy;
}

/** Its time on the server would be that of all its batches together: of a long one each may take as long as a call. */
function searching(rows: Collection, [filter, options]: readonly unknown[]) {
  const leaving = new AbortController();
  const cursor = rows.find(Object.assign({}, filter), Object.assign({ signal: leaving.signal }, options));
  return withCallPolicy(cursor, () => leaving.abort());
}

/** Calls that the server may end when nobody waits for them any more, and where in their arguments the options stand. */
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

/** The arguments of a call, with the time that we wait for it as the server's own. */
function timed(name: string | symbol, args: readonly unknown[]): readonly unknown[] {
  const at = OPTIONS[name as keyof Collection];
  if (at === undefined) return args;
  const options = Object.assign({ maxTimeMS: STORE_CALL_MS }, args[at]);
  return Array.from({ length: at + 1 }, (_, index) => (index === at ? options : args[index]));
}

const speaksToServer = (given: unknown): given is object =>
  given instanceof Db ||
  given instanceof Collection ||
  given instanceof AbstractCursor ||
  (typeof given === 'object' && given !== null && Symbol.asyncIterator in given);

/**
 * All that a cursor has. The driver would ask for every batch within what to us is one call: much that is asked for
 * comes in many calls, each with its deadline, and all within the time of a request.
 */
async function allOf<T>(cursor: AbstractCursor<T>): Promise<T[]> {
  const until = performance.now() + REQUEST_MS;
  const all: T[] = [];
  try {
    while (await cursor.hasNext()) {
      for (const one of cursor.readBufferedDocuments()) all.push(one);
      if (performance.now() > until) throw new UnavailableError(`MongoDB was not done within ${REQUEST_MS} ms`);
    }
    return all;
  } finally {
    // Nobody waits for it: of one that has ended nothing is left to close.
    cursor.close().catch(() => {});
  }
}

/** What the server answers to one call; `late` is told that its time is up. */
export async function answered<T>(call: Promise<T>, ms: number, late?: () => void): Promise<T> {
  try {
    return await withDeadline(ms, call, 'MongoDB');
  } catch (error) {
    if (error instanceof UnavailableError) late?.();
    if (isFull(error)) throw new StoreFullError('MongoDB takes no writes: its disk is full', { cause: error });
    if (isAway(error)) throw new UnavailableError('MongoDB does not answer', { cause: error });
    if (isDamage(error)) throw new UnavailableError('MongoDB found damage in what it stores', { cause: error });
    throw error;
  }
}

const AWAY = [
  MongoNetworkError,
  MongoSystemError,
  MongoOperationTimeoutError,
  MongoTopologyClosedError,
  MongoServerClosedError,
  MongoNotConnectedError,
  MongoClientClosedError,
  MongoExpiredSessionError,
];

/** Those that the driver keeps to itself. */
const AWAY_NAMES: ReadonlySet<string> = new Set(['MongoWaitQueueTimeoutError', 'MongoPoolClosedError']);

/** Codes of a server that can't do now what it could do before or after. */
const AWAY_CODES: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  43, // CursorNotFound: it was opened on a server that is no longer the primary
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed
  89, // NetworkTimeout
  91, // ShutdownInProgress
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  146, // ExceededMemoryLimit: the embedded engine's, of what others are at
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

/** OutOfDiskSpace: a server that goes on reading. */
const isFull = (error: unknown): boolean =>
  (error instanceof MongoServerError && error.code === 14031) ||
  (error instanceof MongoBulkWriteError && isFull(error.errorResponse));

/** DataCorruptionDetected: the server's message says where. It can be mended while this runs, or restored. */
const isDamage = (error: unknown): boolean => error instanceof MongoServerError && error.code === 301;

function isAway(error: unknown): boolean {
  if (!(error instanceof MongoError)) return isOfSocket(error);
  if (AWAY.some((away) => error instanceof away)) return true;
  if (error.hasErrorLabel(MongoErrorLabel.RetryableWriteError)) return true;
  if (AWAY_NAMES.has(error.name)) return true;
  // A bulk write wraps what ended it, whatever it was.
  if (error instanceof MongoBulkWriteError && isAway(error.errorResponse)) return true;
  return error instanceof MongoServerError && AWAY_CODES.has(error.code);
}

/** Said by Node itself to who writes to a socket that the server has ended, or that is closed. */
const SOCKET_CODES: ReadonlySet<unknown> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** While it waits for a socket to take a large command, the driver hands on what the socket says. */
const isOfSocket = (error: unknown): boolean =>
  error instanceof Error && ('syscall' in error || ('code' in error && SOCKET_CODES.has(error.code)));
