/** Confirms that a document is missing by a majority write, so that a deposed primary cannot report it missing. */
import type { Db } from 'mongodb';

export type LinearizableRead = <T>(read: () => Promise<T | null | undefined>) => Promise<T | undefined>;

/**
 * Reads again after a write when nothing was found. A primary that was deposed while frozen serves stale reads
 * for a moment, but a write of its never reaches a majority.
 * Concurrent misses share the write.
 */
export function createLinearizableRead(db: Db): LinearizableRead {
  const rows = db.collection<{ _id: string }>('primary');
  let lastWrite: Promise<unknown> = Promise.resolve();
  let nextWrite: Promise<unknown> | undefined;

  /** Starts a write after this call, or shares one that has not started yet. */
  const confirmPrimary = () => {
    nextWrite ??= lastWrite.then(() => {
      const write = rows.updateOne({ _id: 'primary' }, { $inc: { asked: 1 } }, { upsert: true });
      lastWrite = write.catch(() => {});
      nextWrite = undefined;
      return write;
    });
    return nextWrite;
  };

  return async (read) => {
    const first = await read();
    if (first !== null && first !== undefined) return first;
    await confirmPrimary();
    return (await read()) ?? undefined;
  };
}
