/** Group commit: events for one stream wait for the append in progress, then share the next one. */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import {
  type EventLog,
  isTransient,
  type Logger,
  type NewEvent,
  type Position,
  type RecordedEvent,
  UnavailableError,
} from '../ports/index.js';

/** Bytes of an append before encryption, which adds at most a third: well below the 1 MiB a server accepts. */
const APPEND_BYTES = 640 * 1024;
/** Events of an append; serializing them takes less than one slice of the event loop. */
const APPEND_EVENTS = 250;
/** Unanswered appends before the events are rejected. */
const ATTEMPTS = 10;
/** Longest random delay after a conflict, ms. */
const CONFLICT_MS = 5;
/** Milliseconds that events wait and are retried; those not sent by then are never sent. */
const DEADLINE_MS = 6000;

/**
 * Retention has ended the stream, by a clock ahead of ours. Retrying is useless; a later stream will accept the
 * event.
 */
export class StreamEndedError extends UnavailableError {
  constructor(stream: string) {
    super(`${stream} was closed by retention; check that the clocks of all nodes agree`);
  }
}

export interface PendingEvent {
  readonly event: NewEvent;
  /** Size before encryption. */
  readonly bytes: number;
}

export type Appender = ReturnType<typeof createGroupCommit>;

export interface GroupCommitOptions {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Called for every append before its callers resolve. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  /** Slows callers down instead of rejecting them, as long as the log accepts the events queued before theirs. */
  readonly blocking?: true;
}

interface QueuedEvent extends PendingEvent {
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  /** Events not sent yet, in order. */
  readonly items: Set<QueuedEvent>;
  /** Last revision of the stream, once known. */
  revision: number | undefined;
  /** Appends that the log has accepted. */
  commits: number;
}

export function createGroupCommit({ log, logger, appended, blocking }: GroupCommitOptions) {
  const queues = new Map<string, Queue>();
  const revisions = new LRUCache<string, number>({ max: 1000 });
  let waitingBytes = 0;

  /**
   * Appends events in order. Resolves with the position of the last once all are flushed; throws `UnavailableError`,
   * or `StreamEndedError` if retention has ended the stream.
   */
  const append = (stream: string, events: readonly PendingEvent[]): Promise<Position> =>
    events.length === 0
      ? Promise.resolve(0n)
      : new Promise((resolvePromise, rejectPromise) => {
          const queue = queueOf(stream);
          const ownItems: QueuedEvent[] = [];
          let { commits } = queue;
          let remaining = events.length;
          const timeout = setTimeout(() => {
            if (blocking && queue.commits > commits) {
              commits = queue.commits;
              timeout.refresh();
            } else if (ownItems.some((item) => queue.items.has(item)))
              reject(new UnavailableError(`${stream} could not be written within ${DEADLINE_MS} ms`));
          }, DEADLINE_MS);
          const resolve = (position: Position) => {
            if (--remaining > 0) return;
            clearTimeout(timeout);
            resolvePromise(position);
          };
          const reject = (error: unknown) => {
            clearTimeout(timeout);
            dequeue(queue, ownItems);
            rejectPromise(error);
          };
          for (const { event, bytes } of events) {
            waitingBytes += bytes;
            const item = { event, bytes, resolve, reject };
            ownItems.push(item);
            queue.items.add(item);
          }
        });

  /**
   * Removes events that were never sent; only those are known not to be in the log. Touches no other items: when the
   * log is silent, thousands of callers time out one after the other.
   */
  function dequeue({ items }: Queue, ownItems: readonly QueuedEvent[]) {
    for (const item of ownItems) if (items.delete(item)) waitingBytes -= item.bytes;
  }

  function queueOf(stream: string): Queue {
    const existing = queues.get(stream);
    if (existing) return existing;
    const queue: Queue = { items: new Set(), revision: revisions.get(stream), commits: 0 };
    queues.set(stream, queue);
    void run(stream, queue);
    return queue;
  }

  async function run(stream: string, queue: Queue) {
    // Waits one round of the event loop, so that requests that arrive together share an append.
    await new Promise(setImmediate);
    for (let items = nextBatch(queue); items.length > 0; items = nextBatch(queue)) {
      try {
        const position = await appendBatch(stream, queue, items).finally(() => {
          for (const { bytes } of items) waitingBytes -= bytes;
        });
        queue.commits++;
        appended(stream, position, items.length);
        for (const { resolve } of items) resolve(position);
      } catch (error) {
        for (const { reject } of items) reject(error);
      }
    }
    queues.delete(stream);
    if (queue.revision !== undefined) revisions.set(stream, queue.revision);
  }

  /**
   * Appends with retries. After a missing answer, reads the stream and leaves out the events that are there already.
   */
  async function appendBatch(stream: string, queue: Queue, items: readonly QueuedEvent[]): Promise<Position> {
    let events = items.map(({ event }) => event);
    const deadline = performance.now() + DEADLINE_MS;
    let mustRead = queue.revision === undefined;
    for (let failures = 0; failures < ATTEMPTS && performance.now() < deadline; ) {
      try {
        if (mustRead) {
          const recorded = await readAfter(stream, queue.revision);
          queue.revision = recorded.at(-1)?.revision ?? queue.revision ?? -1;
          const ids = new Set(recorded.map(({ id }) => id));
          events = events.filter(({ id }) => !ids.has(id));
          if (events.length === 0) return recorded.at(-1)?.position ?? 0n;
          mustRead = failures > 0;
        }
        const revision = queue.revision ?? -1;
        const outcome = await log.append(stream, revision < 0 ? 'none' : revision, events);
        if (outcome.outcome === 'appended') {
          queue.revision = outcome.revision;
          return outcome.position;
        }
        if (outcome.outcome === 'deleted') throw new StreamEndedError(stream);
        // Other nodes were faster. One node succeeds in each round, so the delay need not grow.
        mustRead = failures > 0 || outcome.revision === undefined;
        if (!mustRead) queue.revision = outcome.revision;
        await delay(Math.random() * CONFLICT_MS);
      } catch (error) {
        if (!isTransient(error) || error instanceof StreamEndedError) throw error;
        mustRead = true;
        logger.warn({ err: error, stream, tried: failures }, 'event log did not answer; retrying');
        await delay(Math.random() * 5 * 2 ** failures++);
      }
    }
    throw new UnavailableError(`${stream} could not be written: the event log did not answer`);
  }

  /** Reads the events after a revision; without one, only the last event of the stream. */
  async function readAfter(stream: string, revision: number | undefined): Promise<readonly RecordedEvent[]> {
    const events = await log.read(
      stream,
      revision === undefined ? { backwards: true, limit: 1 } : { from: revision + 1 },
    );
    if (events === 'deleted') throw new StreamEndedError(stream);
    return events === 'missing' ? [] : events;
  }

  return {
    append,
    /** Bytes of events that are queued or being appended. */
    waitingBytes: () => waitingBytes,
  };
}

function nextBatch({ items }: Queue): QueuedEvent[] {
  const batch: QueuedEvent[] = [];
  let bytes = 0;
  for (const item of items) {
    if (batch.length === APPEND_EVENTS || (batch.length > 0 && bytes + item.bytes > APPEND_BYTES)) break;
    items.delete(item);
    batch.push(item);
    bytes += item.bytes;
  }
  return batch;
}
