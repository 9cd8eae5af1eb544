/** What all answers of the log service have in common: CORS, credentials, and who may call. */
import { COMMON_ANSWER_HEADERS, COMMON_REQUEST_HEADERS, cors } from '../security/cors.js';
import { unforged } from '../security/csrf-guard.js';
import { type Expected, meantFor } from '../security/host-guard.js';
import type { ServicePolicy } from '../server/policy.js';

/** The schemes that documents name: a bearer token, or a name and password. */
export const LOG_SECURITY = ['token', 'basic'] as const;

/** Who may call: `host` and `appUrl` are where it is reached; unset origins are everybody's, or nobody's if `open`. */
export interface LogsAccess extends Expected {
  /** Nobody is asked for credentials. */
  readonly open: boolean;
  /** A name and password are one of them. */
  readonly password: boolean;
}

export const logsPolicy = (version: string, access: LogsAccess): ServicePolicy => ({
  service: 'logs',
  title: 'Log query sidecar',
  description:
    'Takes in log records, keeps them searchable, counts them, watches them for alerts. Where credentials are ' +
    'configured, every `/api` route needs a bearer token or basic authentication; a producer token may only ingest. ' +
    'Where only producers have tokens, reading is open; a wrong bearer token is 401 also there.',
  version,
  cors: cors({
    origins: access.origins ?? ['*'],
    methods: ['GET', 'POST', 'PUT', 'OPTIONS'],
    headers: COMMON_REQUEST_HEADERS,
    expose: COMMON_ANSWER_HEADERS,
  }),
  // Records hold what people did: none of it is to stay in caches of browsers and proxies.
  headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  // With credentials it is they that keep strangers out, but a password may be sent by any page; without, a web page
  // must not read or set anything.
  guard: access.open ? meantFor(access) : access.password ? unforged(access) : undefined,
  securitySchemes: {
    token: { type: 'http', scheme: 'bearer' },
    basic: { type: 'http', scheme: 'basic' },
  },
});
