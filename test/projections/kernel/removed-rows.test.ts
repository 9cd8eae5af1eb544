/** Rows that are removed and put again: they are there, as a build of the same events has them. */
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

describe('rows that are removed', function () {
  this.timeout(60_000);
  const { given } = projectionSpec(loans, ({ data }) => `toys.book-${data.book}`);

  it('are not there', () => given(lent('ada'), returned()).thenNoRows());

  it('are there where they are put again', () =>
    given(lent('ada'), lent('ada', 'c'), returned(), lent('bob'), returned('c')).thenRows({
      _id: 'b',
      to: 'bob',
    }));

  it('are not there where they are removed again', () =>
    given(lent('ada'), returned(), lent('bob'), returned()).thenNoRows());
});
