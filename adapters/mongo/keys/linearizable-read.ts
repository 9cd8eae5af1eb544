/** Confirms that a document is missing by a majority write, so that a deposed primary cannot report it missing. */
import type { Db } from 'mongodb';
import { createFreshSingleFlight } from '../../../application/concurrency/index.js';

export type LinearizableRead = <T>(read: () => Promise<T | null | undefined>) => Promise<T | undefined>;

/**
 * Reads again after a write when nothing was found. A primary that was deposed while frozen serves stale reads
 * for a moment, but a write of its never reaches a majority. Concurrent misses share the write.
 */
export function createLinearizableRead(db: Db): LinearizableRead {
  const rows = db.collection<{ _id: string }>('primary');
  const singleFlight = createFreshSingleFlight();
  const confirmPrimary = () => rows.updateOne({ _id: 'primary' }, { $inc: { asked: 1 } }, { upsert: true });

  return async (read) => {
    const first = await read();
    if (first !== null && first !== undefined) return first;
    await singleFlight('primary', confirmPrimary);
    return (await read()) ?? undefined;
  };
}
