/** What the chat tells everybody: that it is there, and how people sign in. */
import { type Route, route } from '../server/route.js';
import * as schemas from './schemas.js';

export interface PublicConfig {
  readonly mode: 'dev' | 'magic-link' | 'password';
  readonly hasEmail: boolean;
  readonly isInviteRequired: boolean;
  readonly oauthEnabled: boolean;
  readonly passwordResetEnabled: boolean;
  readonly registrationEnabled: boolean;
}

/** `routes`: those of signing in that there are in this mode, by name. */
export function healthRoutes(config: PublicConfig, routes: { readonly [name: string]: string }): readonly Route[] {
  const body = { auth: { ...config, routes: { ...routes, config: '/auth/config' } } };
  const told = (path: '/config.json' | '/auth/config') =>
    route({
      method: 'GET',
      path,
      summary: 'How people sign in here',
      answers: { 200: { description: 'The modes', schema: schemas.publicConfig } },
      handle: () => ({ status: 200, body }),
    });
  return [health, told('/config.json'), told('/auth/config')];
}

const health = route({
  method: 'GET',
  path: '/health',
  summary: 'Says OK',
  answers: { 200: { description: 'OK', type: 'text/plain' } },
  handle: () => ({ status: 200, text: 'OK' }),
});
