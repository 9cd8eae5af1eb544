/** The routes of who is there. */
import type { Presence } from '../../../application/chat/people/presence.js';
import { STATUSES } from '../../../domain/chat/presence.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-list.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import { text, time } from './schemas.js';

export interface PresenceDeps {
  readonly doors: AuthGuards;
  readonly presence: Presence;
}

const status = { enum: STATUSES } as const;
export const presenceEntry = object({ userId: text, status, lastSeen: time });
const tags = ['presence'];

export const presenceRoutes = ({ doors, presence }: PresenceDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/presence',
    summary: 'Who is there',
    description: 'Of every user; `lastSeen` is when the status became what it is.',
    tags,
    security: 'access',
    answers: {
      200: {
        description: 'An entry a user',
        schema: object({ presence: { type: 'array', items: presenceEntry } }),
      },
    },
    admit: doors.user,
    async handle({ ifPosition }) {
      const { presence: entries, ...reflected } = await presence.list(ifPosition);
      return streamedList('presence', entries, reflected);
    },
  }),
  route({
    method: 'PUT',
    path: '/presence/me',
    summary: 'Say whether one is there',
    description: 'Stays until another status is set, or the last open event stream has been closed for 10 seconds.',
    tags,
    security: 'access',
    body: object({ status }),
    answers: { 200: { description: 'Set', schema: object({ presence: presenceEntry }) } },
    admit: doors.user,
    handle: async (request, caller) =>
      answer(await presence.set(caller.userId, request.body.status, contextFor(caller, request))),
  }),
];
