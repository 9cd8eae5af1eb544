/**
 * Event log with a single writer. Queued requests are written in one lmdb transaction and flushed off the event loop
 * (group commit); readers see only what is flushed.
 */
import { DiskFull, watchDiskSpace } from '../../supervisor/disk-space.js';
import { type Reason, RequestRefused } from './errors.js';
import { encodeRecord, type ProposedEvent, TOMBSTONE } from './record.js';
import {
  appendRecord,
  type Head,
  openStore,
  pairKey,
  positionKey,
  readHead,
  readPosition,
  type Store,
} from './store.js';
import { openStreams, type StreamState, type Streams } from './streams.js';
import { createTailCache, type RecentEvent, type StoredEvent } from './tail-cache.js';

export interface EventLog {
  readonly store: Store;
  readonly streams: Streams;
  /** End of the flushed part. */
  head(): Head;
  /**
   * Runs `work` in the next batch and settles once that batch is on disk, with its value or the error it threw. `work`
   * must be synchronous and complete all checks before its first write.
   */
  submit<T>(work: (now: number) => T): Promise<T>;
  /** Writes one event after the stream's last one; call only inside `submit`. Returns the new state of the stream. */
  write(stream: StreamState, event: ProposedEvent, now: number): { stream: StreamState; position: number };
  /** Writes the tombstone of a stream; call only inside `submit`. */
  writeTombstone(stream: StreamState, event: ProposedEvent, now: number): number;
  /** The event at a revision, flushed or not; undefined if there is none or it was removed. */
  find(stream: StreamState, revision: number): StoredEvent | undefined;
  /** Events from a position on, if all of them are in the tail cache; undefined if they must be read from the store. */
  recent(from: number): readonly RecentEvent[] | undefined;
  /** Empties the tail cache after events have been removed. */
  clearTailCache(): void;
  /** Calls back after every flush that wrote events. Returns a function that unsubscribes. */
  onFlush(listener: () => void): () => void;
  /** Reports a damaged event once, to standard error and `onDamaged`. */
  reportDamage(position: number): void;
  /** Completes queued writes, then closes the store. */
  close(): Promise<void>;
}

interface Submission {
  /** Runs the work and returns a function that settles its promise. */
  run(now: number): () => void;
  fail(error: Error): void;
}

/**
 * Opens the log in `directory`.
 * @param onFatal Called when a batch cannot be written; the log then accepts nothing.
 * @param onDamaged Called with the position of each damaged event found.
 * @param onRollBack Called when a batch was undone because the disk is full.
 */
export function openEventLog(
  directory: string,
  onFatal: (error: Error) => void,
  onDamaged: (position: number) => void = () => {},
  onRollBack: () => void = () => {},
): EventLog {
  const store = openStore(directory);
  const streams = openStreams(store);
  const unflushed = new Map<string, RecentEvent>();
  const recent = createTailCache();
  const listeners = new Set<() => void>();
  const damaged = new Set<number>();
  let head = readHead(store);
  let next = head;
  let queue: Submission[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  let isFileMissing = false;
  const report = (line: string) => void process.stderr.write(`event store: ${line}\n`);
  const space = watchDiskSpace(store.path, report);

  async function drain(): Promise<void> {
    // Requests decoded from the same network chunk join the first batch.
    await Promise.resolve();
    while (queue.length > 0 && !closed) await writeBatch(takeBatch());
    writing = undefined;
  }

  function takeBatch(): Submission[] {
    const batch = queue.slice(0, MAX_BATCH);
    queue = queue.slice(MAX_BATCH);
    return batch;
  }

  /** Returns why nothing can be written now; reported once on standard error. */
  function refusal(): Reason | undefined {
    try {
      store.file.check();
      isFileMissing = false;
      space.check();
      return undefined;
    } catch (error) {
      if (error instanceof DiskFull) return { kind: 'disk-full' };
      if (!isFileMissing) report(error instanceof Error ? error.message : String(error));
      isFileMissing = true;
      return { kind: 'unavailable' };
    }
  }

  function refuse(batch: readonly Submission[], reason: Reason): void {
    for (const submission of batch) submission.fail(new RequestRefused(reason));
  }

  function rollBack(): void {
    next = head;
    unflushed.clear();
    streams.rollBack();
    onRollBack();
  }

  async function writeBatch(batch: readonly Submission[]): Promise<void> {
    const reason = refusal();
    if (reason) return refuse(batch, reason);
    let settlers: (() => void)[] = [];
    try {
      await store.environment.batch(() => {
        const now = Date.now();
        settlers = batch.map((submission) => submission.run(now));
      });
      await store.environment.flushed;
    } catch (thrown) {
      const error = await space.explain(thrown);
      if (error instanceof DiskFull) {
        rollBack();
        return refuse(batch, { kind: 'disk-full' });
      }
      closed = true;
      refuse([...batch, ...queue], { kind: 'unavailable' });
      queue = [];
      return onFatal(error);
    }
    const hasGrown = next !== head;
    recent.add(head, [...unflushed.values()]);
    head = next;
    unflushed.clear();
    streams.settle();
    for (const settle of settlers) settle();
    if (hasGrown) for (const listener of listeners) listener();
  }

  function writeRecord(stream: StreamState, event: ProposedEvent, revision: number, now: number): number {
    const position = next.nextPosition;
    const place = {
      name: Buffer.from(stream.name),
      streamNumber: stream.number,
      revision,
      position,
      ordinal: next.nextOrdinal,
      created: now,
    };
    const record = encodeRecord(event, place);
    appendRecord(store, position, record);
    if (stream.category !== 0) store.categoryPositions.put(pairKey(stream.category, position), NOTHING);
    store.revisions.put(pairKey(stream.number, revision), positionKey(position));
    unflushed.set(`${stream.number}/${revision}`, { position, record, category: stream.category });
    next = { position, nextPosition: position + record.length, nextOrdinal: next.nextOrdinal + 1 };
    return position;
  }

  return {
    store,
    streams,
    head: () => head,
    submit: (work) =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new RequestRefused({ kind: 'unavailable' }));
        queue.push({
          run(now) {
            try {
              const value = work(now);
              return () => resolve(value);
            } catch (error) {
              return () => reject(error);
            }
          },
          fail: reject,
        });
        writing ??= drain();
      }),
    write(stream, event, now) {
      const revision = stream.lastRevision + 1;
      const position = writeRecord(stream, event, revision, now);
      return { stream: { ...stream, lastRevision: revision }, position };
    },
    writeTombstone: (stream, event, now) => writeRecord(stream, event, TOMBSTONE, now),
    find(stream, revision) {
      if (revision < 0) return undefined;
      const pending = unflushed.get(`${stream.number}/${revision}`);
      if (pending) return pending;
      const key = store.revisions.get(pairKey(stream.number, revision));
      const record = key && store.log.get(key);
      return record && { position: readPosition(key), record };
    },
    recent: recent.from,
    clearTailCache: recent.forget,
    onFlush(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reportDamage(position) {
      if (damaged.has(position)) return;
      damaged.add(position);
      onDamaged(position);
      process.stderr.write(`event store: the event at position ${position} is damaged and left out\n`);
    },
    async close() {
      await writing;
      closed = true;
      await store.environment.close();
      store.file.close();
    },
  };
}

const NOTHING: Buffer = Buffer.alloc(0);
/** Maximum submissions per flush; bounds the memory of a batch. */
const MAX_BATCH = 1024;
