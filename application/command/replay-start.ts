/** From where on a stream need be read: all of it, or where its events say all of the state, one of the newest on. */
import type { EventLog, RecordedEvent } from '../ports/index.js';
import { readBackward } from './read-stream-pages.js';

/** Events of a stream: behind so many nobody looks for one that says all, nor for what was done under a key. */
export const LOOKBACK_EVENTS = 10_000;

/** A revision; of the state as it was just after `until`, where that is given. Rejects with `Unavailable`. */
export async function findReplayStart(
  log: Pick<EventLog, 'read'>,
  { isSnapshotEvent }: { readonly isSnapshotEvent?: (event: RecordedEvent) => boolean },
  stream: string,
  until?: number,
): Promise<number> {
  if (!isSnapshotEvent) return 0;
  let looked = 0;
  for await (const page of readBackward(log, stream, until)) {
    const found = page.findLast(isSnapshotEvent);
    if (found) return found.revision;
    looked += page.length;
    if (looked >= LOOKBACK_EVENTS) break;
  }
  return 0;
}
