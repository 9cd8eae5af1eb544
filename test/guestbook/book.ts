/** A guest book that everybody may sign once: its event and its rule. Stream `guestbook.book-<id>`. In `domain/`. */
import type { Catalog } from '../../domain/shared/catalog.js';
import type { Decider, DomainEvent } from '../../domain/shared/decider.js';

export type Entry = { readonly name: string; readonly text: string };
export type BookSigned = DomainEvent<'BookSigned', { bookId: string; signedAt: number; secret: Entry }>;

/** Its events are sealed under its own key. */
export const bookStream = ({ bookId }: { readonly bookId: string }): string => `guestbook.book-${bookId}`;

const text = { type: 'string' } as const;
const object = (properties: object) => ({ type: 'object', required: Object.keys(properties), properties });
const signed = object({ bookId: text, signedAt: { type: 'integer' }, secret: object({ name: text, text }) });

export const catalog: Catalog = {
  service: 'guestbook',
  events: {
    BookSigned: {
      versions: [{ schema: signed }],
      sealed: { subject: bookStream, erased: { name: '', text: '' } },
    },
  },
};

export type SignBook = { readonly bookId: string; readonly now: number } & Entry;

/** The state: who has signed. */
export const book: Decider<readonly string[], SignBook, BookSigned> = {
  initialState: [],
  decide: ({ bookId, now, name, text }, names) =>
    names.includes(name)
      ? { rejected: 'guestbook/already-signed', kind: 'conflict' }
      : [{ type: 'BookSigned', data: { bookId, signedAt: now, secret: { name, text } } }],
  evolve: (names, { data }) => [...names, data.secret.name],
};
