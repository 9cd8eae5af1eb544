/** The live tail of log records: every stream has filters of its own, and resumes by position. */

import type { Batch } from '../../application/logs/batches.js';
import { entryText } from '../../application/logs/queries.js';
import type { Position } from '../../application/ports.js';
import type { SealedBatch } from '../../domain/logs/batch.js';
import { type Filter, matches } from '../../domain/logs/filter.js';
import type { PlacedRecord } from '../../domain/logs/record.js';
import { type Frame, frame, type Sink } from './sink.js';

export interface Tail {
  /** Takes the batches of the service in log order; does not wait. */
  publish(event: Batch): void;
  /** Streams what comes, and what came after `after` first; one `RESET` if that is too long ago. */
  connect(filter: Filter, after: Position | undefined, sink: Sink): void;
  /** How many streams are open. */
  streams(): number;
  close(): void;
}

export interface TailOptions {
  /** The records of a batch with their places; none once they are erased. */
  readonly recordsOf: (event: Batch) => Promise<readonly PlacedRecord[]>;
  /** A position after which every batch will be published. */
  readonly from: Promise<Position>;
  readonly failed: (error: unknown) => void;
}

interface Connection {
  readonly filter: Filter;
  readonly sink: Sink;
  since: Position;
}

/** Batches kept, still sealed, for clients that come back. */
const KEPT = { batches: 2000, characters: 16 * 1024 * 1024 };
const MAX_BUFFERED = 1024 * 1024;
const HEARTBEAT_MS = 15_000;

export function createTail({ recordsOf, from, failed }: TailOptions): Tail {
  /** All streams, and those of them that have got what they missed. */
  const open = new Set<Connection>();
  const live = new Set<Connection>();
  const kept: Batch[] = [];
  let keptCharacters = 0;
  /** Everything up to here has been forgotten, or was never seen. */
  let forgotten: Position = -1n;
  let last: Position = -1n;
  let closed = false;
  // One after the other: opening takes its time, and the order of the log is kept.
  let working: Promise<void> = Promise.resolve();
  const then = (work: () => Promise<void>) => {
    working = working.then(work).catch(failed);
  };
  from.then((position) => {
    const [first] = kept;
    if (forgotten < 0n) forgotten = first && first.position < position ? first.position - 1n : position;
  }, failed);
  const heartbeat = setInterval(() => {
    for (const { sink, since } of open) sink.beat(since < 0n ? undefined : since);
  }, HEARTBEAT_MS).unref();

  function keep(event: Batch) {
    kept.push(event);
    keptCharacters += sizeOf(event);
    while (kept.length > KEPT.batches || keptCharacters > KEPT.characters) {
      const gone = kept.shift()!;
      keptCharacters -= sizeOf(gone);
      forgotten = gone.position;
    }
  }

  async function deliver(event: Batch, to: Iterable<Connection>) {
    const waiting = [...to].filter(({ since }) => since < event.position);
    if (waiting.length === 0) return;
    const records = await recordsOf(event);
    const frames = new Map<PlacedRecord, Frame>();
    for (const connection of waiting) {
      const passing = records.filter((record) => matches(connection.filter, record));
      for (const record of passing) {
        const shared = frames.get(record) ?? { json: entryText(record, record.json) };
        frames.set(record, shared);
        // Only behind its last record a batch is through: who breaks off before gets it again.
        const isLast = record === passing.at(-1);
        send(connection, isLast ? { ...shared, position: event.position } : shared);
      }
      connection.since = event.position;
    }
  }

  function send(connection: Connection, each: Frame) {
    connection.sink.send(each);
    if (connection.sink.buffered() <= MAX_BUFFERED || !open.delete(connection)) return;
    live.delete(connection);
    connection.sink.cut();
  }

  return {
    publish(event) {
      if (event.position <= last) return;
      last = event.position;
      if (event.type !== 'RecordsIngested') return;
      keep(event);
      then(() => deliver(event, live));
    },

    connect(filter, after, sink) {
      if (closed) return sink.end('resume');
      const connection = { filter, sink, since: after ?? last };
      const missed = kept.filter(({ position }) => position > connection.since);
      const tooOld = after !== undefined && after < forgotten;
      if (tooOld) {
        connection.since = last;
        sink.send(frame({ type: 'RESET' }, last < 0n ? undefined : last));
      } else sink.beat(connection.since < 0n ? undefined : connection.since);
      open.add(connection);
      sink.onClose(() => {
        open.delete(connection);
        live.delete(connection);
      });
      // In its turn: batches that are still being opened for others are among those it missed.
      then(async () => {
        if (!tooOld) for (const event of missed) if (open.has(connection)) await deliver(event, [connection]);
        if (open.has(connection)) live.add(connection);
      });
    },

    streams: () => open.size,

    close() {
      closed = true;
      clearInterval(heartbeat);
      for (const { sink } of open) sink.end('resume');
      open.clear();
      live.clear();
    },
  };
}

const sizeOf = ({ data }: Batch) => (data as SealedBatch).secret.length;
