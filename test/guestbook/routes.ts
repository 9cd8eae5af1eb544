/** Routes and audience of guest books. Belongs in `adapters/http/` and `adapters/realtime/relay/`. */
import { cors, type ServicePolicy } from '../../adapters/http/server/policy.js';
import { type Route, route } from '../../adapters/http/server/route.js';
import type { Relay } from '../../adapters/realtime/relay/relay.js';
import type { Audience } from '../../application/subscription/audience.js';
import { isRejection } from '../../domain/shared/decider.js';
import type { BookSigned } from './book.js';
import type { createBooks } from './books.js';

const access = cors({ origins: ['*'], methods: ['GET', 'POST'], headers: ['Content-Type'] });
export const policy: ServicePolicy = { service: 'guestbook', title: 'Books', version: '1', cors: access };

/** Streams are registered under the id of their book. */
export const audience: Audience<undefined, BookSigned> = {
  initialState: undefined,
  on: {
    BookSigned: {
      deliver: ({ erased, data: { bookId, secret } }) =>
        erased ? [] : [{ to: [bookId], message: { type: 'SIGNED', payload: secret } }],
    },
  },
};

type Books = ReturnType<typeof createBooks>;
const text = { type: 'string', minLength: 1, maxLength: 500 } as const;

export function bookRoutes(books: Books, relay: Relay<undefined, BookSigned>): readonly Route[] {
  const sign = route({
    method: 'POST',
    path: '/books/:bookId/entries',
    summary: 'Sign a book',
    body: { type: 'object', required: ['name', 'text'], properties: { name: text, text } },
    answers: { 201: { description: 'Signed' }, 409: { description: 'That name has signed it before' } },
    async handle({ params: { bookId }, body, address, context }) {
      const done = await books.sign(bookId, body, context('guest', address));
      return isRejection(done) ? done : { status: 201, ...done };
    },
  });
  const read = route({
    method: 'GET',
    path: '/books/:bookId',
    summary: 'What is in it, the newest first',
    answers: { 200: { description: 'The book' } },
    async handle({ params: { bookId }, ifPosition }) {
      return { status: 200, ...(await books.read(bookId, ifPosition)) };
    },
  });
  const events = route({
    method: 'GET',
    path: '/books/:bookId/events',
    summary: 'What comes into it, as it comes',
    answers: { 200: { description: 'The stream', type: 'text/event-stream' } },
    handle: ({ params: { bookId }, cursor: after }) => ({
      stream: (sink) => relay.connect({ keys: [bookId], after }, sink),
    }),
  });
  return [sign, read, events];
}
