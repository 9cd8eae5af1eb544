/** Compares two builds of a read model row by row. */
import { isDeepStrictEqual } from 'node:util';
import type { Position } from '../../application/ports/index.js';
import type { Row } from './projection.js';

export interface Difference {
  readonly id: string;
  /** `ahead of the log`: changed by an event that the log lacks, for example after a restore from a backup. */
  readonly problem: 'missing' | 'superfluous' | 'different' | 'ahead of the log';
}

/**
 * Returns the rows that differ. Both inputs must be ordered by `_id`. Ignores rows changed after `until`, unless they
 * are ahead of the log.
 */
export async function compare(
  live: AsyncIterable<Row>,
  rebuilt: AsyncIterable<Row>,
  until: Position,
  head: () => Promise<Position>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const liveRows = live[Symbol.asyncIterator]();
  const rebuiltRows = rebuilt[Symbol.asyncIterator]();
  let logEnd = until;
  let [a, b] = [await liveRows.next(), await rebuiltRows.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : Buffer.compare(Buffer.from(a.value._id), Buffer.from(b.value._id));
    const row: Row = order <= 0 && !a.done ? a.value : b.value;
    const problem = order < 0 ? 'superfluous' : order > 0 ? 'missing' : 'different';
    const at = row._at.toBigInt();
    if (at > logEnd) logEnd = await head();
    if (at > logEnd) differences.push({ id: row._id, problem: 'ahead of the log' });
    else if (at <= until && (order !== 0 || !isDeepStrictEqual(a.value, b.value)))
      differences.push({ id: row._id, problem });
    if (order <= 0) a = await liveRows.next();
    if (order >= 0) b = await rebuiltRows.next();
  }
  return differences;
}
