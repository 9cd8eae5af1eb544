/**
 * The log: one writer that gathers what waits into one lmdb transaction, flushed off the event loop; and what
 * readers need to stay behind the last flush.
 */
import { DiskFull, watchDiskSpace } from '../../supervisor/disk-space.js';
import { type Reason, Refused } from './errors.js';
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
import { openRecent, type RecentEvent, type StoredEvent } from './tail-cache.js';

export interface EventLog {
  readonly store: Store;
  readonly streams: Streams;
  /** The end of what is flushed. */
  head(): Head;
  /**
   * Runs `work` in the next batch and answers when that batch is on disk: its value, or what it threw. It must not
   * wait for anything, and it must check everything before its first write.
   */
  submit<T>(work: (now: number) => T): Promise<T>;
  /** Writes one event behind the stream's last; only inside `submit`. Returns the stream's new state. */
  write(stream: StreamState, event: ProposedEvent, now: number): { stream: StreamState; position: number };
  /** Writes the tombstone of a stream; only inside `submit`. */
  writeTombstone(stream: StreamState, event: ProposedEvent, now: number): number;
  /** The event at a revision, flushed or not; undefined when there is none (any more). */
  find(stream: StreamState, revision: number): StoredEvent | undefined;
  /** The events from that position on, where all of them were written lately: who listens need not read them again. */
  recent(from: number): readonly RecentEvent[] | undefined;
  /** Some were removed: what is left must be read. */
  forgetRecent(): void;
  /** Calls back after every flush that wrote something; returns how to stop that. */
  onFlush(listener: () => void): () => void;
  /** Says once, on standard error and to `onDamaged`, that an event is damaged. */
  reportDamage(position: number): void;
  /** Finishes what waits, then closes the store. */
  close(): Promise<void>;
}

interface Waiting {
  /** Runs the work; the result is told by the function it returns. */
  run(now: number): () => void;
  fail(error: Error): void;
}

/**
 * Opens the log in `directory`; `onFatal` is told when a batch cannot be written, after which nothing is accepted,
 * `onDamaged` of the position of each event that is met and is not what was written, `onRollBack` when what a batch has
 * written could not be stored, for lack of room.
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
  const recent = openRecent();
  const listeners = new Set<() => void>();
  const damaged = new Set<number>();
  let head = readHead(store);
  let next = head;
  let queue: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let closed = false;
  let isLost = false;
  const report = (line: string) => void process.stderr.write(`event store: ${line}\n`);
  const space = watchDiskSpace(store.path, report);

  async function drain(): Promise<void> {
    // What came with the same bytes joins the first batch.
    await Promise.resolve();
    while (queue.length > 0 && !closed) await writeBatch(takeBatch());
    writing = undefined;
  }

  function takeBatch(): Waiting[] {
    const batch = queue.slice(0, MAX_BATCH);
    queue = queue.slice(MAX_BATCH);
    return batch;
  }

  /** Why nothing can be written now; said once, on standard error. */
  function refusal(): Reason | undefined {
    try {
      store.file.check();
      isLost = false;
      space.check();
      return undefined;
    } catch (error) {
      if (error instanceof DiskFull) return { kind: 'disk-full' };
      if (!isLost) report(error instanceof Error ? error.message : String(error));
      isLost = true;
      return { kind: 'unavailable' };
    }
  }

  function refuse(batch: readonly Waiting[], reason: Reason): void {
    for (const waiting of batch) waiting.fail(new Refused(reason));
  }

  function rollBack(): void {
    next = head;
    unflushed.clear();
    streams.rollBack();
    onRollBack();
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    const reason = refusal();
    if (reason) return refuse(batch, reason);
    let answers: (() => void)[] = [];
    try {
      await store.environment.batch(() => {
        const now = Date.now();
        answers = batch.map((waiting) => waiting.run(now));
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
    const grown = next !== head;
    recent.add(head, [...unflushed.values()]);
    head = next;
    unflushed.clear();
    streams.settle();
    for (const answer of answers) answer();
    if (grown) for (const listener of listeners) listener();
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
        if (closed) return reject(new Refused({ kind: 'unavailable' }));
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
    forgetRecent: recent.forget,
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
/** Submissions in one flush at most; bounds the memory of a batch. */
const MAX_BATCH = 1024;
