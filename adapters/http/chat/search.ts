/** The route of searching what was said. */
import type { Search } from '../../../application/chat/search/search-messages.js';
import { MOST_WORDS } from '../../../domain/chat/text-search.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { isProblem } from '../server/problem.js';
import { type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import type { AuthGuards } from './auth.js';
import { asJson, reauthenticate } from './page-response.js';
import { flag, text, time } from './schemas.js';

export interface SearchDeps {
  readonly doors: AuthGuards;
  readonly search: Search;
}

const id = { type: 'string', maxLength: 64 } as const;

const found = object(
  {
    id: text,
    channelId: text,
    content: text,
    author: object({ id: text, userName: text }, { isBot: flag }),
    createdAt: time,
  },
  { threadId: { type: 'string', description: 'Of a reply: the message in whose thread it is' } },
);

export const searchRoutes = ({ doors, search }: SearchDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/search/messages',
    summary: 'Find messages and replies, the newest first',
    description:
      'Each word is to be found in the content, the name of the author or of an attachment, as a part of a word, ' +
      'whatever its case, accents and width. Filters are combined; of direct messages, only the caller’s own are found.',
    tags: ['messages'],
    security: 'access',
    query: {
      type: 'object',
      required: ['q'],
      properties: {
        q: { type: 'string', maxLength: 1000, description: `Up to ${MOST_WORDS} different words` },
        channelId: id,
        conversationId: id,
        authorId: id,
        from: { type: 'integer', description: 'Posted at this Unix ms or after' },
        to: { type: 'integer', description: 'Posted at this Unix ms or before' },
        limit: listLimit({ initial: 50, max: 500 }),
      },
    },
    answers: {
      200: { description: 'What was found', schema: object({ messages: { type: 'array', items: found } }) },
      400: { description: '`q` is blank, or has too many words' },
    },
    admit: doors.user,
    async handle(request, caller) {
      const { query, ifPosition } = request;
      const found = await search(caller, query, ifPosition, request);
      if (isRejection(found)) return found;
      // They may have waited for it, and see less by now.
      const still = await reauthenticate({ request, doors }, found.position);
      if (isProblem(still) || isRejection(still)) return still;
      const isSame = still.isAdmin === caller.isAdmin;
      return asJson(isSame ? found : await search(still, query, ifPosition, request));
    },
  }),
];
