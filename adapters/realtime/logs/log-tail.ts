/** Live tail of log records: each stream has its own filter and resumes by position. */
import { LRUCache } from 'lru-cache';
import { createSliceQueue } from '../../../application/concurrency/index.js';
import type { StoredBatch } from '../../../application/logs/ingest/decrypt-batch.js';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Position } from '../../../application/ports/index.js';
import type { LiveEvent } from '../../../application/subscription/index.js';
import type { catalog } from '../../../domain/logs/catalog.js';
import { type Filter, matches } from '../../../domain/logs/filter.js';
import type { IdentifiedRecord } from '../../../domain/logs/record.js';
import { createRing, RING_BYTES, type RingItem } from '../relay/client-stream.js';
import { createConnections, type RelayObserver } from '../relay/connections.js';
import { type Frame, frameOf, type Sink } from '../relay/sink.js';

export type Tail = ReturnType<typeof createTail>;

export interface TailOptions {
  /** The records of a batch; none once it is erased. Rejects when they cannot be decrypted now. */
  readonly recordsOf: (event: StoredBatch) => Promise<readonly IdentifiedRecord[]>;
  /** Every batch after this position will be published. */
  readonly from: Position;
  /** The position of the log's last event. */
  readonly head: () => Promise<Position>;
  readonly failed: (error: unknown) => void;
  readonly observe?: RelayObserver;
}

interface RingBatch extends RingItem {
  readonly event: StoredBatch;
}

interface RenderedRecord {
  readonly record: IdentifiedRecord;
  readonly frame: Frame;
}

/** Batches buffered, still encrypted, for clients that reconnect or are slow. */
const BUFFER_LIMITS = { items: 2000, bytes: RING_BYTES };
/** Batches cached decrypted: most streams are at the same batch. */
const MAX_DECRYPTED = 3;
const OVERHEAD = 1000;

export function createTail({ recordsOf, from, head, failed, observe }: TailOptions) {
  const ring = createRing<RingBatch>({ ...BUFFER_LIMITS, from });
  const connections = createConnections({ ring, head, failed, observe });
  // Thousands of streams may filter every batch; this keeps them from blocking other work.
  const slices = createSliceQueue();
  const decrypted = new LRUCache<RingBatch, Promise<readonly RenderedRecord[]>>({ max: MAX_DECRYPTED });

  function decrypt(batch: RingBatch): Promise<readonly RenderedRecord[]> {
    const cached = decrypted.get(batch);
    if (cached) return cached;
    const decrypting = recordsOf(batch.event).then((records) =>
      records.map((record) => ({ record, frame: frameOf(() => entryText(record, record.json)) })),
    );
    decrypted.set(batch, decrypting);
    decrypting.catch(() => decrypted.delete(batch));
    return decrypting;
  }

  return {
    /** Publishes the service's batches in log order; does not wait. */
    publish(event: LiveEvent<typeof catalog>) {
      const { position } = event;
      if (position <= connections.latest()) return;
      if (event.type !== 'RecordsIngested') return connections.advance(position);
      const bytes = OVERHEAD + event.data.secret.length;
      connections.publish({ position, bytes, event });
    },

    /** Streams new records after those missed since `after`; sends one `RESET` if that is too long ago. */
    connect(filter: Filter, after: Position | undefined, sink: Sink) {
      let closed = false;
      sink.onClose(() => {
        closed = true;
      });
      const select = async (batch: RingBatch) => {
        // Each round of the event loop lets one stream decrypt or filter, even when all reconnect together.
        await slices.nextSlice();
        const matching: RenderedRecord[] = [];
        for (const each of closed ? [] : await decrypt(batch)) {
          if (slices.sliceExpired()) await slices.nextSlice();
          if (closed) break;
          if (matches(filter, each.record)) matching.push(each);
        }
        // The position goes with the last record only: a stream that breaks off earlier gets the batch again.
        return matching.map(({ frame }, index) =>
          index < matching.length - 1 ? frame : { json: frame.json, position: batch.position },
        );
      };
      connections.connect({ keys: [], sink, pick: select }, { after });
    },

    streams: connections.count,
    bufferedBytes: () => ring.bytes,
    close: connections.close,
  };
}
