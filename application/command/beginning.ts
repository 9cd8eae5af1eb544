/** From where on a stream need be read: all of it, or where its events say all of the state, one of the newest on. */
import type { EventLog, RecordedEvent } from '../ports.js';

/** How many of the newest events are looked at. */
const LOOKED_BACK = 200;

/** A revision; of the state as it was just after `until`, where that is given. Rejects with `Unavailable`. */
export async function beginning(
  log: Pick<EventLog, 'read'>,
  { saysAll }: { readonly saysAll?: (event: RecordedEvent) => boolean },
  stream: string,
  until?: number,
): Promise<number> {
  if (!saysAll) return 0;
  const asked = until === undefined ? {} : { from: until };
  const newest = await log.read(stream, { backwards: true, limit: LOOKED_BACK, ...asked });
  return typeof newest === 'string' ? 0 : (newest.findLast(saysAll)?.revision ?? 0);
}
