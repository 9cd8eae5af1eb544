/** That there is nothing is believed of a server that takes writes only. */
import type { Db } from 'mongodb';

export type Assured = <Found>(look: () => Promise<Found | null | undefined>) => Promise<Found | undefined>;

/**
 * What is not found is looked for once more after a write. A primary that was deposed while it was frozen answers for
 * a moment as if it were one, without what its successor has taken; but no write of its gets to most members, and
 * that is waited for. Who looks in vain meanwhile shares the write.
 */
export function createLinearizableRead(db: Db): Assured {
  const marks = db.collection<{ _id: string }>('primary');
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<unknown> | undefined;

  /** A write that begins after this was called. */
  const written = () => {
    next ??= last.then(() => {
      const writing = marks.updateOne({ _id: 'primary' }, { $inc: { asked: 1 } }, { upsert: true });
      last = writing.catch(() => {});
      next = undefined;
      return writing;
    });
    return next;
  };

  return async (look) => {
    const found = await look();
    if (found !== null && found !== undefined) return found;
    await written();
    return (await look()) ?? undefined;
  };
}
