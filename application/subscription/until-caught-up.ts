/** Reads a catch-up subscription to the end of the log, for commands. */
import { withDeadline } from '../concurrency/index.js';
import type { Batch } from '../ports/index.js';

/** Ms without a batch. A subscription reconnects for ever, also if the store never comes back. */
const SILENCE_MS = 60_000;

/** Yields batches until one has caught up. Rejects with `UnavailableError` if the store is silent. */
export async function* untilCaughtUp<Event>(log: AsyncIterable<Batch<Event>>): AsyncGenerator<Batch<Event>> {
  const batches = log[Symbol.asyncIterator]();
  try {
    for (;;) {
      const { done, value } = await withDeadline(SILENCE_MS, batches.next(), 'the event store');
      if (done) return;
      yield value;
      if (value.caughtUp) return;
    }
  } finally {
    // Not awaited: it ends with the next batch, or with the signal of the subscription.
    batches.return?.().catch(() => {});
  }
}
