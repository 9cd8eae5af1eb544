/** Pages of rows: all rows of a range, in order, once. */
import { expect } from 'chai';
import { readRowPages } from '../../../application/consistency/index.js';
import type { RowQuery, Rows } from '../../../application/ports/index.js';

describe('pages of rows', () => {
  /** Rows with `at` from 1 to 7; `find` returns those in the queried range. */
  const queries: RowQuery[] = [];
  const rows = {
    async find(_: string, query: RowQuery) {
      queries.push(query);
      const { $gt, $lte = Number.POSITIVE_INFINITY } = (query.filter as { at: { $gt: number; $lte?: number } }).at;
      const all = [1, 2, 3, 4, 5, 6, 7].filter((at) => at > $gt && at <= $lte);
      return all.slice(0, query.limit).map((at) => ({ at }));
    },
  } as unknown as Rows;
  const read = async (range: { after: number; upTo?: number; limit: number }) => {
    const pages = readRowPages<{ at: number }>(rows, 'model', { filter: { kind: 'x' }, by: 'at', ...range });
    const found = [];
    for await (const page of pages) found.push(page.map(({ at }) => at));
    return found;
  };

  it('hold each row of the range once, in order', async () => {
    expect(await read({ after: 0, limit: 3 })).to.deep.equal([[1, 2, 3], [4, 5, 6], [7]]);
    expect(await read({ after: 2, upTo: 5, limit: 2 })).to.deep.equal([[3, 4], [5]]);
    expect(await read({ after: 1, upTo: 7, limit: 3 })).to.deep.equal([
      [2, 3, 4],
      [5, 6, 7],
    ]);
    expect(await read({ after: 7, limit: 3 })).to.deep.equal([]);
  });

  it('are queried by the filter, in ascending order', async () => {
    await read({ after: 0, limit: 3 });
    const { filter, sort, limit } = queries.at(-1)!;
    expect({ sort, limit }).to.deep.equal({ sort: { at: 1 }, limit: 3 });
    expect(filter).to.include({ kind: 'x' });
  });
});
