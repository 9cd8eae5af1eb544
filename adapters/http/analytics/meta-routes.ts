/** Routes for health and sign-in configuration. */
import { type Route, route } from '../server/route.js';
import { AUTH } from './auth.js';
import * as schemas from './schemas.js';

export interface PublicRouteDeps {
  readonly version: string;
}

export function publicRoutes({ version }: PublicRouteDeps): readonly Route[] {
  const tags = ['Service'];

  const health = route({
    method: 'GET',
    path: '/health',
    tags,
    summary: 'Whether the service is up; for its stores see /health/ready of the operations port',
    answers: { 200: { description: 'Up', schema: schemas.healthAnswer } },
    handle: () => ({
      status: 200,
      body: { status: 'ok', service: 'analytics', version, timestamp: new Date().toISOString() },
    }),
  });

  const config = route({
    method: 'GET',
    path: '/config.json',
    tags,
    summary: 'How to sign in',
    answers: { 200: { description: 'Mode and sign-in routes', schema: schemas.configAnswer } },
    handle: () => ({
      status: 200,
      body: { mode: 'api', auth: { enabled: true, mode: 'magic-link', routes: AUTH } },
    }),
  });

  return [health, config];
}
