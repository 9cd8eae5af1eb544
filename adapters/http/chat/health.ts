/** Public routes of the chat: health, and the configuration of sign-in. */
import type { DataOf } from '../../../domain/shared/index.js';
import { healthRoute, type Route, route } from '../server/route.js';
import * as schemas from './schemas.js';

type PublicConfig = Omit<DataOf<typeof schemas.publicConfig>['auth'], 'routes'>;

/** @param routes Paths of the sign-in routes of this mode by name. */
export function healthRoutes(config: PublicConfig, routes: { readonly [name: string]: string }): readonly Route[] {
  const body = { auth: { ...config, routes: { ...routes, config: '/auth/config' } } };
  const configRoute = (path: '/config.json' | '/auth/config') =>
    route({
      method: 'GET',
      path,
      summary: 'Configuration of sign-in',
      answers: { 200: { description: 'The configuration', schema: schemas.publicConfig } },
      handle: () => ({ status: 200, body }),
    });
  return [healthRoute, configRoute('/config.json'), configRoute('/auth/config')];
}
