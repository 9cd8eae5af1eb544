/** What the analytics service tells of itself: its health, how to sign in, and who is signed in. */
import { type Admit, type Route, route } from '../kernel/route.js';
import type { Admin } from './admission.js';
import * as schemas from './schemas.js';

export interface PublicRouteDeps {
  readonly version: string;
  readonly admit: Admit<Admin>;
}

const ME = '/api/auth/me';

export function publicRoutes({ version, admit }: PublicRouteDeps): readonly Route[] {
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
      body: { mode: 'api', auth: { enabled: true, mode: 'token', routes: { me: ME } } },
    }),
  });

  const me = route({
    method: 'GET',
    path: ME,
    tags,
    summary: 'Who is signed in',
    security: 'admin',
    answers: { 200: { description: 'The caller', schema: schemas.meAnswer } },
    admit,
    handle: () => ({
      status: 200,
      body: { authEnabled: true, authenticated: true, user: { email: null, role: 'admin' } },
    }),
  });

  return [health, config, me];
}
