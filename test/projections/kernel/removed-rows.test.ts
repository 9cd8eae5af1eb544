/** Rows that are removed and put again: live equals rebuilt. */
import type { Projection } from '../../../projections/kernel/projection.js';
import { projectionSpec } from '../../support/projection-spec.js';

type Lent = { readonly type: 'Lent'; readonly data: { readonly book: string; readonly to: string } };
type Returned = { readonly type: 'Returned'; readonly data: { readonly book: string } };

const loans: Projection<Lent | Returned> = {
  name: 'toys.loans',
  version: 1,
  indexes: [],
  on: {
    Lent: ({ data: { book, to } }) => [{ put: book, update: { $set: { to } } }],
    Returned: ({ data: { book } }) => [{ remove: book }],
  },
};

const lent = (to: string, book = 'b'): Lent => ({ type: 'Lent', data: { book, to } });
const returned = (book = 'b'): Returned => ({ type: 'Returned', data: { book } });

describe('removed rows', function () {
  this.timeout(60_000);
  const { given } = projectionSpec(loans, ({ data }) => `toys.book-${data.book}`);

  it('do not exist', () => given(lent('ada'), returned()).thenNoRows());

  it('exist when put again', () =>
    given(lent('ada'), lent('ada', 'c'), returned(), lent('bob'), returned('c')).thenRows({
      _id: 'b',
      to: 'bob',
    }));

  it('do not exist when removed again', () => given(lent('ada'), returned(), lent('bob'), returned()).thenNoRows());
});
