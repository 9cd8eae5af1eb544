/** Finds the revision from which a stream must be replayed: its newest snapshot event, or the beginning. */
import type { EventLog, RecordedEvent } from '../ports/index.js';
import { readBackward } from './read-stream-pages.js';

/** Events of a stream that are searched backwards for a snapshot event or an idempotency key. */
export const LOOKBACK_EVENTS = 10_000;

/** @param until Finds the start for the state just after this revision; default: the newest. */
export async function findReplayStart(
  log: Pick<EventLog, 'read'>,
  { isSnapshotEvent }: { readonly isSnapshotEvent?: (event: RecordedEvent) => boolean },
  stream: string,
  until?: number,
): Promise<number> {
  if (!isSnapshotEvent) return 0;
  let searched = 0;
  for await (const page of readBackward(log, stream, until)) {
    const found = page.findLast(isSnapshotEvent);
    if (found) return found.revision;
    searched += page.length;
    if (searched >= LOOKBACK_EVENTS) break;
  }
  return 0;
}
