/** Larger batches for who reads much of the log: what a batch does to a row is one write, so that more in it cost less. */
import { estimateBytes } from '../../application/memory/estimate-size.js';
import type { Batch, Position, RecordedEvent, Subscribe } from '../../application/ports/index.js';

/** With whichever is there first a batch is handed on. */
export interface Most {
  readonly events: number;
  /** Of what the events say, about, in memory. */
  readonly bytes: number;
  /** Who is told nothing for longer can't tell how far it is either. */
  readonly ms: number;
}

const MOST: Most = { events: 8000, bytes: 8 * 1024 * 1024, ms: 1000 };

/**
 * As `follow`, in larger batches up to `until`; what comes later is handed on as it comes. While one is worked on, the
 * next is gathered: stores that write need not wait for one that reads.
 */
export async function* batchEvents(
  follow: Subscribe,
  options: Parameters<Subscribe>[0],
  until: Position,
  most = MOST,
): AsyncGenerator<Batch> {
  const over = new AbortController();
  const batches = follow({ ...options, signal: AbortSignal.any([options.signal, over.signal]) });
  const gather = async (): Promise<Batch | undefined> => {
    for (const gathering = new Gathering(); ; ) {
      const { value: batch, done } = await batches.next();
      if (done) return undefined;
      gathering.add(batch);
      const { events, position, caughtUp } = gathering;
      const isThere = caughtUp || (position ?? -1n) >= until;
      if (isThere || gathering.isFull(most)) return { events, ...(position !== undefined && { position }), caughtUp };
    }
  };
  try {
    let next = gather();
    for (let batch = await next; batch && !options.signal.aborted; batch = await next) {
      next = gather();
      // Told to whoever asks for it.
      next.catch(() => {});
      yield batch;
    }
  } finally {
    // Otherwise what is read ahead would be waited for until something happens.
    over.abort();
    batches.return(undefined).catch(() => {});
  }
}

class Gathering {
  readonly events: RecordedEvent[] = [];
  position: Position | undefined;
  caughtUp = false;
  #bytes = 0;
  readonly #begun = performance.now();

  add({ events, position = this.position, caughtUp }: Batch) {
    for (const event of events) {
      this.events.push(event);
      this.#bytes += estimateBytes(event.data);
    }
    this.position = position;
    this.caughtUp = caughtUp;
  }

  isFull({ events, bytes, ms }: Most): boolean {
    return this.events.length >= events || this.#bytes >= bytes || performance.now() - this.#begun >= ms;
  }
}
