/** `Streams/Read` with a subscription: catch up, say so, go on with what is flushed; always by pulling. */
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Refused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { compileFilter, type Filter } from '../log/filter.js';
import { floorOf, PAGE_BYTES, readForwards, readWritten, scanCategory, scanForwards } from '../log/read.js';
import { answerOf, ordinalOf, TOMBSTONE } from '../log/record.js';
import { lastBefore } from '../log/store.js';
import { caughtUp, checkpoint, confirmation } from '../wire/answers.js';
import type { Call } from '../wire/grpc.js';
import type { FilterRequest, Position, ReadRequest } from '../wire/read-request.js';
import { checkStreamName } from './appending.js';
import { checkPosition, clamp, findStream, isWhole, PAGE } from './reading.js';

export async function subscribe(log: EventLog, call: Call, { source, filter }: ReadRequest): Promise<void> {
  const flushes = watchFlushes(log, call);
  try {
    if (source.stream === undefined) await subscribeToAll(log, call, source.from, filter, flushes);
    else await subscribeToStream(log, call, source.stream, source.from, flushes);
  } finally {
    flushes.stop();
  }
}

interface Flushes {
  /** Resolves at once when there was a flush since the last call, else with the next one or the call's end. */
  next(): Promise<void>;
  stop(): void;
}

function watchFlushes(log: EventLog, call: Call): Flushes {
  let flushed = false;
  let wake = () => {};
  const notice = () => {
    flushed = true;
    wake();
  };
  const unwatch = log.onFlush(notice);
  call.signal.addEventListener('abort', notice);
  return {
    async next() {
      if (!flushed && !call.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      flushed = false;
    },
    stop() {
      unwatch();
      call.signal.removeEventListener('abort', notice);
    },
  };
}

async function subscribeToStream(
  log: EventLog,
  call: Call,
  name: string,
  from: bigint | 'start' | 'end',
  flushes: Flushes,
): Promise<void> {
  checkStreamName(name);
  findStream(log, name);
  // What is written from now on is told whatever the stream's metadata hides; of what was before, only what it shows.
  const history = log.streams.flushed(name)?.lastRevision ?? -1;
  let next = from === 'start' ? 0 : from === 'end' ? history + 1 : clamp(from) + 1;
  let live = false;
  await call.send([confirmation(randomUUID())]);
  while (!call.signal.aborted) {
    if (log.streams.isTombstoned(name, 'flushed')) return sayDeleted(log, call, name);
    const stream = findStream(log, name);
    if (stream && next <= stream.lastRevision) {
      if (next <= history) next = Math.max(next, Math.min(floorOf(stream), history + 1));
      const read = next <= history ? readForwards : readWritten;
      const page = read(log, stream, next, PAGE);
      if (page.records.length > 0) await call.send(page.records.map(answerOf));
      next = page.next ?? stream.lastRevision + 1;
      await nextTurn();
      continue;
    }
    // Of a stream that is not there nothing can be caught up with.
    if (!live && stream) await call.send([caughtUp]);
    live ||= stream !== undefined;
    await flushes.next();
  }
}

/** A live subscriber is shown the tombstone, then told that the stream is gone. */
async function sayDeleted(log: EventLog, call: Call, name: string): Promise<never> {
  const stream = log.streams.flushed(name);
  const stored = stream && log.find(stream, TOMBSTONE);
  if (stored) await call.send([answerOf(stored.record)]);
  throw new Refused({ kind: 'stream-deleted', stream: name });
}

async function subscribeToAll(
  log: EventLog,
  call: Call,
  from: Position | 'start' | 'end',
  request: FilterRequest | undefined,
  flushes: Flushes,
): Promise<void> {
  const filter = request && compileFilter(request);
  let next = firstPosition(log, from);
  let live = false;
  const checkpoints = filter && openCheckpoints(log, filter, next);
  await call.send([confirmation(randomUUID())]);
  while (!call.signal.aborted) {
    const head = log.head();
    const limit = filter ? FILTERED_PAGE : PAGE;
    const answers: Buffer[] = [];
    let looked = 0;
    let bytes = 0;
    for (const [position, record] of scan(log, filter, next, limit)) {
      looked++;
      next = position + 1;
      if (!isWhole(log, position, record)) continue;
      checkpoints?.before(position, record, answers);
      if (!filter || filter.matches(record)) {
        answers.push(answerOf(record));
        bytes += record.length;
      }
      checkpoints?.after(position, record, answers);
      if (bytes > PAGE_BYTES) break;
    }
    if (looked < limit && bytes <= PAGE_BYTES) {
      next = Math.max(next, head.position + 1);
      checkpoints?.atEnd(head, answers);
    }
    if (answers.length > 0) await call.send(answers);
    if (log.head().position >= next) {
      await nextTurn();
      continue;
    }
    if (!live) await call.send([caughtUp]);
    live = true;
    await flushes.next();
  }
}

/** Headers looked at between two turns of the event loop. */
const FILTERED_PAGE = 2048;

function firstPosition(log: EventLog, from: Position | 'start' | 'end'): number {
  if (from === 'start') return 0;
  const { nextPosition } = log.head();
  if (from === 'end') return nextPosition;
  // Exclusive; from beyond the end on everything that comes is new.
  return Math.min(checkPosition(log, from) + 1, nextPosition);
}

function scan(
  log: EventLog,
  filter: Filter | undefined,
  from: number,
  limit: number,
): Iterable<[number, Buffer | undefined]> {
  const category = filter?.category === undefined ? undefined : log.streams.categoryNumber(filter.category);
  const recent = log.recent(from);
  if (recent) {
    const wanted = category === undefined ? recent : recent.filter((event) => event.category === category);
    return wanted.slice(0, limit).map(({ position, record }): [number, Buffer] => [position, record]);
  }
  return category === undefined ? scanForwards(log, from, limit) : scanCategory(log, category, from, limit);
}

interface Checkpoints {
  before(position: number, record: Buffer, answers: Buffer[]): void;
  after(position: number, record: Buffer, answers: Buffer[]): void;
  atEnd(head: { position: number; nextOrdinal: number }, answers: Buffer[]): void;
}

/**
 * One checkpoint for every `checkpointInterval` events of the log, matching or not. Where the category index has
 * skipped more than that, one stands for the whole stretch.
 */
function openCheckpoints(log: EventLog, { checkpointInterval }: Filter, from: number): Checkpoints {
  let due = (lastBefore(log.store, from)?.ordinal ?? -1) + 1 + checkpointInterval;
  return {
    before(position, record, answers) {
      if (ordinalOf(record) < due) return;
      const skipped = lastBefore(log.store, position);
      if (skipped) answers.push(checkpoint(skipped.position));
      due = ordinalOf(record) + checkpointInterval;
    },
    after(position, record, answers) {
      if (ordinalOf(record) + 1 < due) return;
      answers.push(checkpoint(position));
      due += checkpointInterval;
    },
    atEnd(head, answers) {
      if (head.nextOrdinal < due) return;
      answers.push(checkpoint(head.position));
      due = head.nextOrdinal + checkpointInterval;
    },
  };
}
