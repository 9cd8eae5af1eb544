/** The routes of the settings of the server. */
import type { Server } from '../../../application/chat/admin/server-settings.js';
import { object } from '../../../domain/shared/index.js';
import { type Route, route } from '../server/route.js';
import { type AuthGuards, answer, contextFor } from './auth.js';
import { text } from './schemas.js';

export interface ServerDeps {
  readonly doors: AuthGuards;
  readonly server: Server;
}

export const settings = object({ name: text });
const settingsBody = object({
  name: { type: 'string', maxLength: 1024, description: '1 to 80 characters' },
});

export const serverRoutes = ({ doors, server }: ServerDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/server/settings',
    summary: 'What the server is called',
    security: 'access',
    answers: { 200: { description: 'The settings', schema: settings } },
    admit: doors.user,
    handle: async ({ ifPosition }) => answer(await server.settings(ifPosition)),
  }),
  route({
    method: 'PUT',
    path: '/server/settings',
    summary: 'Call the server otherwise',
    security: 'access',
    body: settingsBody,
    answers: {
      200: { description: 'The settings', schema: settings },
      403: { description: 'The caller is no admin' },
    },
    admit: doors.admin,
    handle: async (request, caller) =>
      answer(await server.rename(request.body.name, caller.userId, contextFor(caller, request))),
  }),
];
