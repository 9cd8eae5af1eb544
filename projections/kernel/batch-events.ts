/** Combines batches of a subscription into larger ones, because writes to one row are coalesced per batch. */
import { estimateBytes } from '../../application/memory/estimate-size.js';
import type { Batch, Position, RecordedEvent, Subscribe } from '../../application/ports/index.js';

/** Limits of a batch; the first one reached ends it. */
export interface BatchLimits {
  readonly events: number;
  /** Estimated size of the event data in memory. */
  readonly bytes: number;
  /** Duration, so that progress is reported regularly. */
  readonly ms: number;
}

const LIMITS: BatchLimits = { events: 8000, bytes: 8 * 1024 * 1024, ms: 1000 };

/**
 * Subscribes with larger batches up to `until`; later batches are passed on unchanged. Collects the next batch while
 * the current one is processed, so that writes do not wait for reads.
 */
export async function* batchEvents(
  follow: Subscribe,
  options: Parameters<Subscribe>[0],
  until: Position,
  limits = LIMITS,
): AsyncGenerator<Batch> {
  const end = new AbortController();
  const batches = follow({ ...options, signal: AbortSignal.any([options.signal, end.signal]) });
  const collect = async (): Promise<Batch | undefined> => {
    for (const builder = new BatchBuilder(); ; ) {
      const { value: batch, done } = await batches.next();
      if (done) return undefined;
      builder.add(batch);
      const { events, position, caughtUp } = builder;
      const isComplete = caughtUp || (position ?? -1n) >= until;
      if (isComplete || builder.isFull(limits))
        return { events, ...(position !== undefined && { position }), caughtUp };
    }
  };
  try {
    let next = collect();
    for (let batch = await next; batch && !options.signal.aborted; batch = await next) {
      next = collect();
      // A rejection is thrown when the batch is awaited.
      next.catch(() => {});
      yield batch;
    }
  } finally {
    // Otherwise the pending read would wait for the next event.
    end.abort();
    batches.return(undefined).catch(() => {});
  }
}

class BatchBuilder {
  readonly events: RecordedEvent[] = [];
  position: Position | undefined;
  caughtUp = false;
  #bytes = 0;
  readonly #startedAt = performance.now();

  add({ events, position = this.position, caughtUp }: Batch) {
    for (const event of events) {
      this.events.push(event);
      this.#bytes += estimateBytes(event.data);
    }
    this.position = position;
    this.caughtUp = caughtUp;
  }

  isFull({ events, bytes, ms }: BatchLimits): boolean {
    return this.events.length >= events || this.#bytes >= bytes || performance.now() - this.#startedAt >= ms;
  }
}
