/** What the analytics service tells of itself: its health, and how to sign in. */
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
    summary: 'Says that the service is up; whether its stores are, /health/ready of the operations port says',
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
    answers: { 200: { description: 'The mode, and its routes', schema: schemas.configAnswer } },
    handle: () => ({
      status: 200,
      body: { mode: 'api', auth: { enabled: true, mode: 'magic-link', routes: AUTH } },
    }),
  });

  return [health, config];
}
