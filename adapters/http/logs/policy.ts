/** HTTP policy of the log service: CORS, security headers and origin checks. */

import { createCsrfGuard, createHostGuard, type HostGuardOptions } from '../hardening/cross-site-guard.js';
import { COMMON_ANSWER_HEADERS, COMMON_REQUEST_HEADERS, cors, type ServicePolicy } from '../server/policy.js';

export const LOG_SECURITY = ['token', 'basic'] as const;

/** Access control: `host` and `appUrl` are the own addresses; default origins are all, or none if `open`. */
export interface LogsAccess extends HostGuardOptions {
  readonly open: boolean;
  readonly password: boolean;
}

export const logsPolicy = (version: string, access: LogsAccess): ServicePolicy => ({
  service: 'logs',
  title: 'Log query sidecar',
  description:
    'Ingests log records, makes them searchable, counts them and raises alerts. If credentials are configured, ' +
    'every `/api` route needs a bearer token or basic authentication; a producer token can only ingest. If only ' +
    'producers have tokens, reading is open, but a wrong bearer token is still rejected with 401.',
  version,
  cors: cors({
    origins: access.origins ?? ['*'],
    methods: ['GET', 'POST', 'PUT', 'OPTIONS'],
    headers: COMMON_REQUEST_HEADERS,
    expose: COMMON_ANSWER_HEADERS,
  }),
  // Records contain personal activity, so browsers and proxies must not cache them.
  headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  // Browsers send basic credentials automatically, so forged requests must be blocked. Without credentials, pages of
  // other origins must not read or change anything.
  guard: access.open ? createHostGuard(access) : access.password ? createCsrfGuard(access) : undefined,
  securitySchemes: {
    token: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  },
});
