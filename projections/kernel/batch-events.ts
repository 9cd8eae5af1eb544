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

/** Subscribes with larger batches up to `until`; later batches are passed on unchanged. */
export async function* batchEvents(
  follow: Subscribe,
  options: Parameters<Subscribe>[0],
  until: Position,
  limits = LIMITS,
): AsyncGenerator<Batch> {
  let events: RecordedEvent[] = [];
  let bytes = 0;
  let startedAt = performance.now();
  let scanned: Position | undefined;
  for await (const { events: more, position = scanned, caughtUp } of follow(options)) {
    scanned = position;
    events.push(...more);
    for (const { data } of more) bytes += estimateBytes(data);
    const isFull =
      events.length >= limits.events || bytes >= limits.bytes || performance.now() - startedAt >= limits.ms;
    if (!isFull && !caughtUp && (position ?? -1n) < until) continue;
    yield { events, ...(position !== undefined && { position }), caughtUp };
    [events, bytes, scanned, startedAt] = [[], 0, undefined, performance.now()];
  }
}
