/** Reads many rows of a read model, one page in memory at a time. */
import type { RowQuery, Rows } from '../ports/index.js';

export interface RowPages extends Pick<RowQuery, 'filter'> {
  /** Field that orders the rows. */
  readonly by: string;
  /** Reads rows whose field is greater, and not above `upTo`. */
  readonly after: bigint | number | string;
  readonly upTo?: bigint | number | string;
  /** Rows per page. */
  readonly limit: number;
}

/**
 * Yields pages in ascending order, unaffected by concurrent inserts and deletes. Of rows with equal fields at the end of
 * a page, the rest is skipped.
 */
export async function* readRowPages<Row>(
  rows: Rows,
  projection: string,
  { filter, by, after, upTo, limit }: RowPages,
): AsyncGenerator<readonly Row[]> {
  for (let last: unknown = after; ; ) {
    const range = { $gt: last, ...(upTo !== undefined && { $lte: upTo }) };
    const query = { filter: { ...filter, [by]: range }, sort: { [by]: 1 as const }, limit };
    const page = await rows.find<Row>(projection, query);
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    last = (page.at(-1) as { readonly [field: string]: unknown })[by];
  }
}
