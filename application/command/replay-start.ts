/** From where on a stream need be read: all of it, or where its events say all of the state, one of the newest on. */
import type { EventLog, RecordedEvent } from '../ports/index.js';
import { pagesBack } from './read-stream-pages.js';

/** Events of a stream: behind so many nobody looks for one that says all, nor for what was done under a key. */
export const LOOKED_BACK = 10_000;

/** A revision; of the state as it was just after `until`, where that is given. Rejects with `Unavailable`. */
export async function beginning(
  log: Pick<EventLog, 'read'>,
  { saysAll }: { readonly saysAll?: (event: RecordedEvent) => boolean },
  stream: string,
  until?: number,
): Promise<number> {
  if (!saysAll) return 0;
  let looked = 0;
  for await (const page of pagesBack(log, stream, until)) {
    const found = page.findLast(saysAll);
    if (found) return found.revision;
    looked += page.length;
    if (looked >= LOOKED_BACK) break;
  }
  return 0;
}
