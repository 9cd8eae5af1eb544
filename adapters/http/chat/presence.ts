/** Routes of presence. */
import type { Presence } from '../../../application/chat/people/presence.js';
import { STATUSES } from '../../../domain/chat/events/presence.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-json.js';
import { type AuthGuards, access, contextFor } from './auth.js';
import { text, time } from './schemas.js';

const status = { enum: STATUSES } as const;
export const presenceEntry = object({ userId: text, status, lastSeen: time });
const tags = ['presence'];

export const presenceRoutes = (guards: AuthGuards, presence: Presence): readonly Route[] => [
  route({
    ...access(guards.user, tags),
    method: 'GET',
    path: '/presence',
    summary: 'Presence of all users',
    description: '`lastSeen` is the time of the last change of the status.',
    answers: {
      200: {
        description: 'One entry per user',
        schema: object({ presence: { type: 'array', items: presenceEntry } }),
      },
    },
    async handle({ ifPosition }) {
      const { presence: entries, ...consistency } = await presence.list(ifPosition);
      return streamedList('presence', entries, consistency);
    },
  }),
  route({
    ...access(guards.user, tags),
    method: 'PUT',
    path: '/presence/me',
    summary: 'Set the own status',
    description:
      'Valid until another status is set, or until 10 seconds after the last event stream of the user is closed.',
    body: object({ status }),
    answers: { 200: { description: 'Set', schema: object({ presence: presenceEntry }) } },
    handle: (request, caller) => presence.set(caller.userId, request.body.status, contextFor(caller, request)),
  }),
];
