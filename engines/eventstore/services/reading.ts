/** `Streams/Read` with a count: pages of a stream or of the whole log, at the pace the client takes them. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Refused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { SOFT_DELETED } from '../log/metadata.js';
import { PAGE_BYTES, readBackwards, readForwards, scanBackwards, scanForwards } from '../log/read.js';
import { answerOf, isIntact } from '../log/record.js';
import { wasGiven } from '../log/store.js';
import type { StreamState } from '../log/streams.js';
import { streamNotFound } from '../wire/answers.js';
import type { Call } from '../wire/grpc.js';
import type { Position, ReadRequest } from '../wire/read-request.js';
import { GrpcError, Status } from '../wire/status.js';
import { checkStreamName } from './appending.js';

/** Events looked at between two turns of the event loop. */
export const PAGE = 256;

/** What the real server says to requests that its own checks throw on. */
export const invalid = (what: string): GrpcError => new GrpcError(Status.UNKNOWN, what);

export async function read(log: EventLog, call: Call, request: ReadRequest, count: number): Promise<void> {
  if (count === 0) throw invalid('A read of no events.');
  if (request.source.stream === undefined) await readAll(log, call, request.source.from, request.backwards, count);
  else await readStream(log, call, request.source.stream, request.source.from, request.backwards, count);
  call.end();
}

/** The stream, undefined when there is nothing to be found; throws when it was tombstoned. */
export function findStream(log: EventLog, name: string): StreamState | undefined {
  if (log.streams.isTombstoned(name, 'flushed')) throw new Refused({ kind: 'stream-deleted', stream: name });
  const stream = log.streams.flushed(name);
  return stream && stream.lastRevision >= 0 && stream.truncateBefore !== SOFT_DELETED ? stream : undefined;
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
  let left = count;
  while (next !== undefined && left > 0 && !call.signal.aborted) {
    const { records, next: following } = page(log, stream, next, Math.min(PAGE, left));
    left -= records.length;
    if (records.length > 0) await call.send(records.map(answerOf));
    next = following;
    await nextTurn();
  }
}

/** A revision as number; nothing is stored above 2^48. */
export const clamp = (revision: bigint): number => Number(revision > MAX_REVISION ? MAX_REVISION : revision);
const MAX_REVISION = 2n ** 48n - 2n;
/** Revisions are 64 bits wide and signed on the server. */
const NO_REVISION = 2n ** 63n;

/**
 * Whether the record can be told. One that can't is left out where the log is read in its own order, or nobody
 * would ever come past it; who reads its stream is refused.
 */
export function isWhole(log: EventLog, position: number, record: Buffer | undefined): record is Buffer {
  const whole = record !== undefined && isIntact(record);
  if (!whole) log.reportDamage(position);
  return whole;
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
  let left = count;
  while (left > 0 && !call.signal.aborted) {
    const answers: Buffer[] = [];
    let bytes = 0;
    let looked = 0;
    for (const [position, record] of scan(log, next, Math.min(PAGE, left))) {
      looked++;
      next = backwards ? position : position + 1;
      if (!isWhole(log, position, record)) continue;
      answers.push(answerOf(record));
      bytes += record.length;
      if (bytes > PAGE_BYTES) break;
    }
    if (looked === 0) return;
    left -= answers.length;
    await call.send(answers);
    await nextTurn();
  }
}

/** Positions are strict: one the server never gave is refused; forwards beyond the end there is nothing yet. */
export function checkPosition(log: EventLog, { commit, prepare }: Position, backwards = false): number {
  if (commit !== prepare) throw invalid("The commit position and the prepare position must be an event's.");
  const position = Number(commit);
  if (position === 0) return 0;
  if (position >= log.head().nextPosition) {
    if (backwards) throw invalid('A position beyond the end of the log.');
    return log.head().nextPosition;
  }
  if (!wasGiven(log.store, position)) throw invalid("A position that is no event's.");
  return position;
}
