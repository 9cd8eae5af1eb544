/** What all answers of the analytics service have in common: CORS for what pages of other origins need, and headers. */
import type { Rejection } from '../../../domain/shared/index.js';
import type { Cors } from '../security/cors.js';
import type { ServicePolicy } from '../server/policy.js';
import { fromRejection, type Problem, problem } from '../server/problem.js';
import { messageWithPath } from '../server/validation-message.js';
import { CHALLENGE, SESSION_COOKIE } from './admission.js';

/** What trackers on other people's pages ask for. */
const PUBLIC = new Set(['/api/collect', '/m.js']);

export const TOKEN_HEADER = 'x-analytics-token';

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': `Content-Type, ${TOKEN_HEADER}`,
  'Access-Control-Max-Age': '86400',
};

/** Pages that isolate themselves take nothing of other origins that does not say so. */
const FOR_ALL = { Vary: 'Origin', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** A beacon always sends credentials, and so needs its origin named; everything else is for pages of this origin. */
const cors: Cors = ({ origin, path, preflight }): { readonly [name: string]: string } => {
  if (!PUBLIC.has(path)) return {};
  if (origin === undefined) return FOR_ALL;
  return {
    ...FOR_ALL,
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    ...(preflight ? PREFLIGHT : {}),
  };
};

const rejected = (rejection: Rejection): Problem => ({
  ...fromRejection(rejection),
  ...(rejection.kind === 'unauthenticated' && { headers: CHALLENGE }),
});

export const analyticsPolicy = (version: string): ServicePolicy => ({
  service: 'analytics',
  title: 'Analytics',
  description:
    'Counts page views and events of sites without cookies, and without keeping who came: an address is digested under a ' +
    'key of the day, which is destroyed when the day is over. Everything but collecting needs the admin token, or a session of the dashboard.',
  version,
  cors,
  rejected,
  invalid: (error) => problem(400, messageWithPath(error)),
  headers: {
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  },
  securitySchemes: {
    admin: { type: 'http', scheme: 'bearer', description: 'The admin token' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description: 'A session of the dashboard. What changes something must come from its own pages, else it is 403',
    },
  },
});
