/** Serves `Streams/Read` with a count: pages of a stream or of the whole log, paced by the client. */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { RequestRefused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { PAGE_BYTES, readBackwards, readForwards, scanBackwards, scanForwards } from '../log/read.js';
import { isIntact, responseOf } from '../log/record.js';
import { isValidPosition } from '../log/store.js';
import type { StreamState } from '../log/streams.js';
import { streamNotFound } from '../wire/answers.js';
import type { Call } from '../wire/grpc.js';
import type { Position, ReadRequest } from '../wire/read-request.js';
import { GrpcError, Status } from '../wire/status.js';
import { checkStreamName } from './appending.js';

/** Events examined between two yields to the event loop. */
export const PAGE = 256;

/** Error for requests that make the real server's own checks throw. */
export const invalid = (message: string): GrpcError => new GrpcError(Status.UNKNOWN, message);

export async function read(log: EventLog, call: Call, request: ReadRequest, count: number): Promise<void> {
  if (count === 0) throw invalid('A read of no events.');
  if (request.source.stream === undefined) await readAll(log, call, request.source.from, request.backwards, count);
  else await readStream(log, call, request.source.stream, request.source.from, request.backwards, count);
  call.end();
}

/** Returns the stream, or undefined if it has no readable events. Throws if it is tombstoned. */
function findStream(log: EventLog, name: string): StreamState | undefined {
  if (log.streams.isTombstoned(name, 'flushed')) throw new RequestRefused({ kind: 'stream-deleted', stream: name });
  const stream = log.streams.flushed(name);
  return stream && stream.lastRevision >= 0 ? stream : undefined;
}

async function readStream(
  log: EventLog,
  call: Call,
  name: string,
  from: bigint | 'start' | 'end',
  backwards: boolean,
  count: number,
): Promise<void> {
  checkStreamName(name);
  if (from === 'end' && !backwards) throw invalid('A read forwards from the end.');
  if (typeof from === 'bigint' && from >= NO_REVISION) throw invalid('A revision of 2^63 or more.');
  const stream = findStream(log, name);
  if (!stream) return call.send([streamNotFound(name)]);
  const page = backwards ? readBackwards : readForwards;
  let next: number | undefined = from === 'start' ? 0 : from === 'end' ? stream.lastRevision : clamp(from);
  let remaining = count;
  while (next !== undefined && remaining > 0 && !call.signal.aborted) {
    const { records, next: following } = page(log, stream, next, Math.min(PAGE, remaining));
    remaining -= records.length;
    if (records.length > 0) await call.send(records.map(responseOf));
    next = following;
    await yieldToEventLoop();
  }
}

/** Converts a revision to a number; no stored revision exceeds 2^48. */
const clamp = (revision: bigint): number => Number(revision > MAX_REVISION ? MAX_REVISION : revision);
const MAX_REVISION = 2n ** 48n - 2n;
/** Revisions are signed 64-bit numbers on the server. */
const NO_REVISION = 2n ** 63n;

/**
 * True if the record is intact; else reports the damage. Reads of the whole log skip damaged records, since no reader
 * could ever get past them; reads of their stream fail.
 */
export function isReadable(log: EventLog, position: number, record: Buffer | undefined): record is Buffer {
  const readable = record !== undefined && isIntact(record);
  if (!readable) log.reportDamage(position);
  return readable;
}

async function readAll(
  log: EventLog,
  call: Call,
  from: Position | 'start' | 'end',
  backwards: boolean,
  count: number,
): Promise<void> {
  const end = log.head().nextPosition;
  const scan = backwards ? scanBackwards : scanForwards;
  let next = from === 'start' ? 0 : from === 'end' ? end : checkPosition(log, from, backwards);
  let remaining = count;
  while (remaining > 0 && !call.signal.aborted) {
    const answers: Buffer[] = [];
    let bytes = 0;
    let scanned = 0;
    for (const [position, record] of scan(log, next, Math.min(PAGE, remaining))) {
      scanned++;
      next = backwards ? position : position + 1;
      if (!isReadable(log, position, record)) continue;
      answers.push(responseOf(record));
      bytes += record.length;
      if (bytes > PAGE_BYTES) break;
    }
    if (scanned === 0) return;
    remaining -= answers.length;
    await call.send(answers);
    await yieldToEventLoop();
  }
}

/** Validates a position: one the server never assigned is refused; beyond the end, forward reads find nothing yet. */
export function checkPosition(log: EventLog, { commit, prepare }: Position, backwards = false): number {
  if (commit !== prepare) throw invalid("The commit position and the prepare position must be an event's.");
  const position = Number(commit);
  if (position === 0) return 0;
  if (position >= log.head().nextPosition) {
    if (backwards) throw invalid('A position beyond the end of the log.');
    return log.head().nextPosition;
  }
  if (!isValidPosition(log.store, position)) throw invalid("A position that is no event's.");
  return position;
}
