/** The entries of guest books: one row each, its name and text sealed as in the log. In `projections/`. */
import type { Projection } from '../../projections/kernel/projection.js';
import type { BookSigned } from './book.js';

export const entries: Projection<BookSigned> = {
  name: 'guestbook.entries',
  version: 1,
  indexes: [{ key: { book: 1, revision: 1 } }],
  on: {
    BookSigned: ({ id, revision, data: { bookId, secret } }) => [
      { put: id, update: { $set: { book: bookId, revision, secret } } },
    ],
  },
};
