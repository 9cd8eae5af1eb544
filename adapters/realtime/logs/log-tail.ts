/** The live tail of log records: every stream has filters of its own, and resumes by position. */
import { LRUCache } from 'lru-cache';
import { createSliceQueue } from '../../../application/concurrency/index.js';
import type { StoredBatch } from '../../../application/logs/ingest/decrypt-batch.js';
import { entryText } from '../../../application/logs/query/query-service.js';
import type { Position } from '../../../application/ports/index.js';
import type { LiveEvent } from '../../../application/subscription/index.js';
import type { catalog } from '../../../domain/logs/catalog.js';
import { type Filter, matches } from '../../../domain/logs/filter.js';
import type { PlacedRecord } from '../../../domain/logs/record.js';
import { createConnections, type RelayObserver } from '../relay/connections.js';
import { createRing, RING_BYTES, type RingItem } from '../relay/ring.js';
import { type Frame, frameOf, type Sink } from '../relay/sink.js';

export interface Tail {
  /** Takes the batches of the service in log order; does not wait. */
  publish(event: LiveEvent<typeof catalog>): void;
  /** Streams what comes, and what came after `after` first; one `RESET` if that is too long ago. */
  connect(filter: Filter, after: Position | undefined, sink: Sink): void;
  /** How many streams are open. */
  streams(): number;
  /** What is kept for clients that come back, in bytes. */
  kept(): number;
  close(): void;
}

export interface TailOptions {
  /** The records of a batch with their places; none once they are erased. Rejects when it can't be known now. */
  readonly recordsOf: (event: StoredBatch) => Promise<readonly PlacedRecord[]>;
  /** Every batch after this position will be published. */
  readonly from: Position;
  /** The position of the log's last event. */
  readonly head: () => Promise<Position>;
  /** A batch could not be opened just now. */
  readonly failed: (error: unknown) => void;
  readonly observe?: RelayObserver;
}

interface RingBatch extends RingItem {
  readonly event: StoredBatch;
}

interface Shown {
  readonly record: PlacedRecord;
  readonly frame: Frame;
}

/** Batches kept, still sealed, for clients that come back or are slow. */
const KEPT = { items: 2000, bytes: RING_BYTES };
/** Batches kept open, for the many who are at the same place. */
const KEPT_OPEN = 3;
const OVERHEAD = 1000;

export function createTail({ recordsOf, from, head, failed, observe }: TailOptions): Tail {
  const ring = createRing<RingBatch>({ ...KEPT, from });
  const connections = createConnections({ ring, head, failed, observe });
  // There may be thousands of streams, each of which looks through all that comes: others do not wait for them.
  const turns = createSliceQueue();
  const opened = new LRUCache<RingBatch, Promise<readonly Shown[]>>({ max: KEPT_OPEN });

  function open(kept: RingBatch): Promise<readonly Shown[]> {
    const known = opened.get(kept);
    if (known) return known;
    const opening = recordsOf(kept.event).then((records) =>
      records.map((record) => ({ record, frame: frameOf(() => entryText(record, record.json)) })),
    );
    opened.set(kept, opening);
    opening.catch(() => opened.delete(kept));
    return opening;
  }

  return {
    publish(event) {
      const { position } = event;
      if (position <= connections.latest()) return;
      if (event.type !== 'RecordsIngested') return connections.pass(position);
      const bytes = OVERHEAD + event.data.secret.length;
      connections.publish({ position, bytes, event });
    },

    connect(filter, after, sink) {
      let gone = false;
      sink.onClose(() => {
        gone = true;
      });
      const pick = async (kept: RingBatch) => {
        // Of all who come back at once, one opens a batch, or looks on in it, each round of the event loop.
        await turns.nextSlice();
        const passing: Shown[] = [];
        for (const each of gone ? [] : await open(kept)) {
          if (turns.sliceExpired()) await turns.nextSlice();
          if (gone) break;
          if (matches(filter, each.record)) passing.push(each);
        }
        // Only behind its last record a batch is through: who breaks off before gets it again.
        return passing.map(({ frame }, index) =>
          index < passing.length - 1 ? frame : { json: frame.json, position: kept.position },
        );
      };
      connections.connect({ keys: [], sink, pick }, { after });
    },

    streams: connections.count,
    kept: () => ring.bytes,
    close: connections.close,
  };
}
