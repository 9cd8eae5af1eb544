/**
 * Serves `Streams/Read` with a subscription: catches up, reports that, then follows the flushes. Always pulls from the
 * log, so nothing is queued per subscriber.
 */
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { EventLog } from '../log/event-log.js';
import { compileFilter, type Filter } from '../log/filter.js';
import { PAGE_BYTES, scanCategory, scanForwards } from '../log/read.js';
import { ordinalOf, responseOf } from '../log/record.js';
import { lastBefore } from '../log/store.js';
import { caughtUp, checkpoint, confirmation } from '../wire/answers.js';
import type { Call } from '../wire/grpc.js';
import type { FilterRequest, Position, ReadRequest } from '../wire/read-request.js';
import { GrpcError, Status } from '../wire/status.js';
import { checkPosition, isReadable, PAGE } from './reading.js';

function trackFlushes(log: EventLog, call: Call) {
  let flushed = false;
  let wake = () => {};
  const onFlush = () => {
    flushed = true;
    wake();
  };
  const unsubscribe = log.onFlush(onFlush);
  call.signal.addEventListener('abort', onFlush);
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
      unsubscribe();
      call.signal.removeEventListener('abort', onFlush);
    },
  };
}

/** Serves a subscription to `$all`; the application has none to a single stream. */
export async function subscribe(log: EventLog, call: Call, { source, filter: request }: ReadRequest): Promise<void> {
  if (source.stream !== undefined) throw new GrpcError(Status.UNIMPLEMENTED, 'Only $all has subscriptions here.');
  const flushes = trackFlushes(log, call);
  try {
    await follow(log, call, source.from, request, flushes);
  } finally {
    flushes.stop();
  }
}

async function follow(
  log: EventLog,
  call: Call,
  from: Position | 'start' | 'end',
  request: FilterRequest | undefined,
  flushes: ReturnType<typeof trackFlushes>,
): Promise<void> {
  const filter = request && compileFilter(request);
  let next = firstPosition(log, from);
  let live = false;
  const checkpoints = filter && createCheckpoints(log, filter, next);
  await call.send([confirmation(randomUUID())]);
  while (!call.signal.aborted) {
    const head = log.head();
    const limit = filter ? FILTERED_PAGE : PAGE;
    const answers: Buffer[] = [];
    let scanned = 0;
    let bytes = 0;
    for (const [position, record] of scan(log, filter, next, limit)) {
      scanned++;
      next = position + 1;
      if (!isReadable(log, position, record)) continue;
      checkpoints?.before(position, record, answers);
      if (!filter || filter.matches(record)) {
        answers.push(responseOf(record));
        bytes += record.length;
      }
      checkpoints?.after(position, record, answers);
      if (bytes > PAGE_BYTES) break;
    }
    if (scanned < limit && bytes <= PAGE_BYTES) {
      next = Math.max(next, head.position + 1);
      checkpoints?.atEnd(head, answers);
    }
    if (answers.length > 0) await call.send(answers);
    if (log.head().position >= next) {
      await yieldToEventLoop();
      continue;
    }
    if (!live) await call.send([caughtUp]);
    live = true;
    await flushes.next();
  }
}

/** Record headers examined between two yields to the event loop. */
const FILTERED_PAGE = 2048;

function firstPosition(log: EventLog, from: Position | 'start' | 'end'): number {
  if (from === 'start') return 0;
  const { nextPosition } = log.head();
  if (from === 'end') return nextPosition;
  // Exclusive. From beyond the end, every further event is new.
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
    const matching = category === undefined ? recent : recent.filter((event) => event.category === category);
    return matching.slice(0, limit).map(({ position, record }): [number, Buffer] => [position, record]);
  }
  return category === undefined ? scanForwards(log, from, limit) : scanCategory(log, category, from, limit);
}

interface Checkpoints {
  before(position: number, record: Buffer, answers: Buffer[]): void;
  after(position: number, record: Buffer, answers: Buffer[]): void;
  atEnd(head: { position: number; nextOrdinal: number }, answers: Buffer[]): void;
}

/**
 * Emits one checkpoint per `checkpointInterval` events of the log, matching or not. If the category index skipped more
 * than that, one checkpoint covers the whole range.
 */
function createCheckpoints(log: EventLog, { checkpointInterval }: Filter, from: number): Checkpoints {
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
