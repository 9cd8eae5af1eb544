/** Routes of the server settings. */
import type { Server } from '../../../application/chat/admin/server-settings.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import { text } from './schemas.js';

export interface ServerDeps {
  readonly guards: AuthGuards;
  readonly server: Server;
}

export const settings = object({ name: text });
const settingsBody = object({
  name: { type: 'string', maxLength: 1024, description: '1 to 80 characters' },
});

export const serverRoutes = ({ guards, server }: ServerDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/server/settings',
    summary: 'The server settings',
    security: 'access',
    answers: { 200: { description: 'The settings', schema: settings } },
    admit: guards.user,
    handle: async ({ ifPosition }) => answer(await server.settings(ifPosition)),
  }),
  route({
    method: 'PUT',
    path: '/server/settings',
    summary: 'Change the name of the server',
    security: 'access',
    body: settingsBody,
    answers: {
      200: { description: 'The settings', schema: settings },
      403: { description: 'The caller is not an admin' },
    },
    admit: guards.admin,
    handle: async (request, caller) =>
      answer(await server.rename(request.body.name, caller.userId, contextFor(caller, request))),
  }),
];
