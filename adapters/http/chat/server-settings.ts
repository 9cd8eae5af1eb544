/** Routes of the server settings. */
import type { Server } from '../../../application/chat/admin/server-settings.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, access, contextFor } from './auth.js';
import { text } from './schemas.js';

export const settings = object({ name: text });
const settingsBody = object({
  name: { type: 'string', maxLength: 1024, description: '1 to 80 characters' },
});

export const serverRoutes = (guards: AuthGuards, server: Server): readonly Route[] => [
  route({
    ...access(guards.user),
    method: 'GET',
    path: '/server/settings',
    summary: 'The server settings',
    answers: { 200: { description: 'The settings', schema: settings } },
    handle: ({ ifPosition }) => server.settings(ifPosition),
  }),
  route({
    ...access(guards.admin),
    method: 'PUT',
    path: '/server/settings',
    summary: 'Change the name of the server',
    body: settingsBody,
    answers: {
      200: { description: 'The settings', schema: settings },
      403: { description: 'The caller is not an admin' },
    },
    handle: (request, caller) => server.rename(request.body.name, caller.userId, contextFor(caller, request)),
  }),
];
