/** Route of message search. */
import type { Search } from '../../../application/chat/search/search-messages.js';
import { MAX_WORDS } from '../../../domain/chat/text-search.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import { type AuthGuards, access, pageReply, reauthenticate } from './auth.js';
import { flag, id, text, time } from './schemas.js';

const searchResult = object(
  {
    id: text,
    channelId: text,
    content: text,
    author: object({ id: text, userName: text }, { isBot: flag }),
    createdAt: time,
  },
  { threadId: { type: 'string', description: 'For replies: id of the parent message' } },
);

export const searchRoutes = (guards: AuthGuards, search: Search): readonly Route[] => [
  route({
    ...access(guards.user, ['messages']),
    method: 'GET',
    path: '/search/messages',
    summary: 'Find messages and replies, newest first',
    description:
      'Each word must occur in the content, the name of the author or the name of an attachment, also within a word; ' +
      'case, accents and width are ignored. Filters are combined. Finds direct messages only of the caller.',
    query: {
      type: 'object',
      required: ['q'],
      properties: {
        q: { type: 'string', maxLength: 1000, description: `Up to ${MAX_WORDS} different words` },
        channelId: id,
        conversationId: id,
        authorId: id,
        from: { type: 'integer', description: 'Posted at this Unix ms or after' },
        to: { type: 'integer', description: 'Posted at this Unix ms or before' },
        limit: listLimit({ initial: 50, max: 500 }),
      },
    },
    answers: {
      200: {
        description: 'The messages and replies found',
        schema: object({ messages: { type: 'array', items: searchResult } }),
      },
      400: { description: '`q` is blank or has too many words' },
    },
    async handle(request, caller) {
      const { query, ifPosition } = request;
      const result = await search(caller, query, request, ifPosition);
      if (isRejection(result)) return result;
      // The caller may have lost rights while waiting.
      const currentCaller = await reauthenticate({ request, guards }, result.position);
      if (isRejection(currentCaller)) return currentCaller;
      const hasSameRole = currentCaller.isAdmin === caller.isAdmin;
      return pageReply(hasSameRole ? result : await search(currentCaller, query, request, ifPosition));
    },
  }),
];
