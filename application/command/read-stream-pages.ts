/** A stream by pages, so that a long one of large events is never in memory at once. */
import type { EventLog, RecordedEvent } from '../ports/index.js';

/** Events read at once: a few megabytes of what people write, a hundred of the largest batches of records. */
export const PAGE = 200;

/**
 * Its events in order, from a revision on, so many at once as `atOnce` says of each page; ends with the reason where there is
 * no such stream (any more).
 */
export async function* readForward(
  log: Pick<EventLog, 'read'>,
  stream: string,
  from = 0,
  pageSize = () => PAGE,
): AsyncGenerator<readonly RecordedEvent[], 'missing' | 'deleted' | undefined> {
  for (let next = from; ; ) {
    const limit = pageSize();
    const events = await log.read(stream, { from: next, limit });
    if (typeof events === 'string') return events;
    yield events;
    if (events.length < limit) return undefined;
    next = events.at(-1)!.revision + 1;
  }
}

/** The same from the newest on, or from a revision, each page newest first. */
export async function* readBackward(
  log: Pick<EventLog, 'read'>,
  stream: string,
  newest?: number,
): AsyncGenerator<readonly RecordedEvent[], 'missing' | 'deleted' | undefined> {
  for (let from = newest; from === undefined || from >= 0; ) {
    const asked = from === undefined ? {} : { from };
    const events = await log.read(stream, { backwards: true, limit: PAGE, ...asked });
    if (typeof events === 'string') return events;
    if (events.length === 0) return undefined;
    yield events;
    from = events.at(-1)!.revision - 1;
  }
  return undefined;
}
