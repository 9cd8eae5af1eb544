/** A guest book that each name may sign once: its event and decider. Stream `guestbook.book-<id>`. Belongs in `domain/`. */
import { type Catalog, type Decider, type EventOf, event } from '../../domain/shared/decider.js';
import { type DataOf, object } from '../../domain/shared/schema.js';

/** The events are encrypted under the stream's own key. */
export const bookStream = ({ bookId }: { readonly bookId: string }): string => `guestbook.book-${bookId}`;

const text = { type: 'string' } as const;
const entry = object({ name: text, text });
export type Entry = DataOf<typeof entry>;

export const catalog = {
  service: 'guestbook',
  events: {
    BookSigned: event(object({ bookId: text, signedAt: { type: 'integer' }, secret: entry }), {
      sealed: { subject: bookStream, erased: { name: '', text: '' } },
    }),
  },
} as const satisfies Catalog;
export type BookSigned = EventOf<typeof catalog>;
type SignBook = { readonly bookId: string; readonly now: number } & Entry;

/** The state: the names that have signed. */
export const book: Decider<readonly string[], SignBook, BookSigned> = {
  initialState: [],
  decide: ({ bookId, now, name, text }, names) =>
    names.includes(name)
      ? { rejected: 'guestbook/already-signed', kind: 'conflict' }
      : [{ type: 'BookSigned', data: { bookId, signedAt: now, secret: { name, text } } }],
  evolve: { BookSigned: (names, { secret }) => [...names, secret.name] },
};
