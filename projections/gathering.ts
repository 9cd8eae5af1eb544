/** Larger batches for who reads much of the log: what a batch does to a row is one write, so that more in it cost less. */
import { heldBytes } from '../application/held-bytes.js';
import type { Batch, Follow, Position, RecordedEvent } from '../application/ports.js';

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
 * As `follow`, in larger batches up to `until`; what comes later is handed on as it comes. While one is worked on, what
 * comes after it is read already.
 */
export async function* gathered(
  follow: Follow,
  options: Parameters<Follow>[0],
  until: Position,
  most = MOST,
): AsyncGenerator<Batch> {
  const over = new AbortController();
  const batches = follow({ ...options, signal: AbortSignal.any([options.signal, over.signal]) });
  let gathering = new Gathering();
  try {
    for (let next = batches.next(); ; ) {
      const { value: batch, done } = await next;
      if (done) return;
      next = batches.next();
      // Told to whoever asks for it.
      next.catch(() => {});
      gathering.add(batch);
      const isThere = batch.caughtUp || (gathering.position ?? -1n) >= until;
      if (!isThere && !gathering.isMuch(most)) continue;
      const { events, position } = gathering;
      gathering = new Gathering();
      yield { events, ...(position !== undefined && { position }), caughtUp: batch.caughtUp };
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
  #bytes = 0;
  readonly #begun = performance.now();

  add({ events, position = this.position }: Batch) {
    for (const event of events) {
      this.events.push(event);
      this.#bytes += heldBytes(event.data);
    }
    this.position = position;
  }

  isMuch({ events, bytes, ms }: Most): boolean {
    return this.events.length >= events || this.#bytes >= bytes || performance.now() - this.#begun >= ms;
  }
}
