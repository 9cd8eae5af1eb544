/** Reads a stream in pages, so that a long one is never in memory as a whole. */
import type { EventLog, RecordedEvent } from '../ports/index.js';

/** Events per page: a few MB of messages, or 100 MB of the largest log batches. */
export const PAGE_EVENTS = 200;

/** Yields pages in stream order from a revision on; returns the reason if the stream does not exist (any more). */
export async function* readForward(
  log: Pick<EventLog, 'read'>,
  stream: string,
  from = 0,
  limit = PAGE_EVENTS,
): AsyncGenerator<readonly RecordedEvent[], 'missing' | 'deleted' | undefined> {
  for (let next = from; ; ) {
    const events = await log.read(stream, { from: next, limit });
    if (typeof events === 'string') return events;
    yield events;
    if (events.length < limit) return undefined;
    next = events.at(-1)!.revision + 1;
  }
}

/**
 * Yields pages backwards from the newest event, or from a revision; each page is newest first.
 *
 * @param firstLimit Events of the first page, for readers who usually need no more.
 */
export async function* readBackward(
  log: Pick<EventLog, 'read'>,
  stream: string,
  newest?: number,
  firstLimit = PAGE_EVENTS,
): AsyncGenerator<readonly RecordedEvent[], 'missing' | 'deleted' | undefined> {
  let limit = firstLimit;
  for (let from = newest; from === undefined || from >= 0; ) {
    const events = await log.read(stream, { backwards: true, limit, ...(from !== undefined && { from }) });
    if (typeof events === 'string') return events;
    if (events.length === 0) return undefined;
    yield events;
    limit = PAGE_EVENTS;
    from = events.at(-1)!.revision - 1;
  }
  return undefined;
}

/**
 * Finds the revision to replay a stream from: its newest snapshot event, or the beginning.
 *
 * @param until Finds the start for the state just after this revision; default: the newest.
 */
export async function findReplayStart(
  log: Pick<EventLog, 'read'>,
  { isSnapshotEvent }: { readonly isSnapshotEvent?: (event: RecordedEvent) => boolean },
  stream: string,
  until?: number,
): Promise<number> {
  if (!isSnapshotEvent) return 0;
  for await (const page of readBackward(log, stream, until)) {
    const found = page.find(isSnapshotEvent);
    if (found) return found.revision;
  }
  return 0;
}
