/** HTTP policy of the analytics service: headers, errors, and CORS for the routes that trackers use. */
import { type Rejection, rejection } from '../../../domain/shared/index.js';
import {
  type Cors,
  fromRejection,
  PRIVATE_HEADERS,
  type Problem,
  problem,
  type ServicePolicy,
} from '../server/policy.js';
import { messageWithPath } from '../server/validate.js';
import { CHALLENGE, SESSION_COOKIE } from './admission.js';

/** Routes that trackers on pages of other origins use. */
const PUBLIC = new Set(['/api/collect', '/m.js']);

export const TOKEN_HEADER = 'x-analytics-token';

const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': `Content-Type, ${TOKEN_HEADER}`,
  'Access-Control-Max-Age': '86400',
};

/** Cross-origin isolated pages load only resources with this header. */
const FOR_ALL = { Vary: 'Origin', 'Cross-Origin-Resource-Policy': 'cross-origin' };

/** Beacons always send credentials, so the origin must be echoed. All other routes are same-origin. */
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

/** Rejection of a network that exceeds the rate of a public route. */
export const tooManyRequests = (retryAfterMs: number): Rejection => ({
  ...rejection('analytics/too-many-requests', 'limit', 'Too many requests from this network'),
  retryAfterMs,
});

export const analyticsPolicy = (version: string): ServicePolicy => ({
  service: 'analytics',
  title: 'Analytics',
  description:
    'Counts page views and events of sites without cookies and without storing visitors: addresses are hashed with a ' +
    'key that is destroyed after each day. All routes except collecting and public links require the admin token or a dashboard session.',
  version,
  cors,
  rejected,
  invalid: (error) => problem(400, messageWithPath(error)),
  headers: PRIVATE_HEADERS,
  securitySchemes: {
    admin: { type: 'http', scheme: 'bearer', description: 'Admin token' },
    share: { type: 'http', scheme: 'bearer', description: 'Token of a public link, the fragment of `shareUrl`' },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: SESSION_COOKIE,
      description: 'Dashboard session. Requests that change data must come from its own pages, else the answer is 403',
    },
  },
});
