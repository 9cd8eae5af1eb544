/** Projection of guest book entries: one row each, with name and text encrypted as in the log. Belongs in `projections/`. */
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
