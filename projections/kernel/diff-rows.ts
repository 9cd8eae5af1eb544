/** Two builds of one read model, row by row. */
import { isDeepStrictEqual } from 'node:util';
import type { Position } from '../../application/ports/index.js';
import type { Row } from './projection.js';

export interface Difference {
  readonly id: string;
  /** `ahead of the log`: touched by an event that it does not have, as when it was restored from a backup. */
  readonly problem: 'missing' | 'superfluous' | 'different' | 'ahead of the log';
}

/**
 * Rows that differ, leaving out those that events after `until` have touched, up to the `head` of the log when they
 * are met. Both come in the order of their `_id`.
 */
export async function compare(
  live: AsyncIterable<Row>,
  rebuilt: AsyncIterable<Row>,
  until: Position,
  head: () => Promise<Position>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const lives = live[Symbol.asyncIterator]();
  const rebuilts = rebuilt[Symbol.asyncIterator]();
  let last = until;
  let [a, b] = [await lives.next(), await rebuilts.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : Buffer.compare(Buffer.from(a.value._id), Buffer.from(b.value._id));
    const row: Row = order <= 0 && !a.done ? a.value : b.value;
    const problem = order < 0 ? 'superfluous' : order > 0 ? 'missing' : 'different';
    const at = row._at.toBigInt();
    if (at > last) last = await head();
    if (at > last) differences.push({ id: row._id, problem: 'ahead of the log' });
    else if (at <= until && (order !== 0 || !isDeepStrictEqual(a.value, b.value)))
      differences.push({ id: row._id, problem });
    if (order <= 0) a = await lives.next();
    if (order >= 0) b = await rebuilts.next();
  }
  return differences;
}
