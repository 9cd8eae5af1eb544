/** Settings of the log service. */
import { boolean, integer, port, type Rule, type Settings, string, strings, tokenOf } from '../config/setting.js';

export const logsSettings = {
  'logs.port': port(3003, 'Port of the log service; 0 picks a free one'),
  'logs.apiToken': {
    ...tokenOf(8),
    secret: true,
    description: 'Bearer token of the log service; without it and a basic password anyone can access it',
  },
  'logs.basic.username': { type: 'string', minLength: 1, description: 'Username for basic authentication' },
  'logs.basic.password': {
    type: 'string',
    minLength: 1,
    secret: true,
    description: 'Password for basic authentication',
  },
  'logs.producers': {
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'token'],
      properties: {
        id: { type: 'string', pattern: '^[\\w.-]{1,64}$' },
        token: tokenOf(8),
      },
    },
    default: [],
    secret: true,
    description: 'Tokens that can only send records, each with a producer id: [{id, token}]',
  },
  'logs.allowedOrigins': {
    type: 'array',
    items: { type: 'string' },
    description: 'Origins allowed to call the log service; default: all, or only loopback if it has no credentials',
  },
  'logs.watch': strings([], 'Directories whose *.ndjson files are ingested, including subdirectories'),
  'logs.retentionDays': integer(
    30,
    'Days that records are retained, from the earlier of their receipt and their own time',
  ),
  'logs.auditRetentionDays': integer(365, 'Days that records with audit: true are retained'),
  'logs.queryTimeoutMs': integer(10_000, 'Maximum duration of a log query in milliseconds', { minimum: 10 }),
  allowOpen: boolean(false, 'Allow the log service to listen beyond loopback without credentials'),
} as const satisfies Settings;

/** Settings of alerting; the alert policy itself is changed through the API. */
export const alertSettings = {
  'logs.appUrl': string('Public address of the log service, sent with alerts; default: the address it listens on'),
  'logs.webhookSecret': {
    type: 'string',
    minLength: 16,
    secret: true,
    description: 'Secret that signs webhook alerts, in the header X-Annals-Signature',
  },
  'logs.allowPrivateWebhooks': {
    type: 'boolean',
    description: 'Allow webhooks to private networks; default: only if the service listens on loopback',
  },
} as const satisfies Settings;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/;

export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

interface Producer {
  readonly id: string;
  readonly token: string;
}

/** Rejects equal tokens: a token must identify one producer. */
function sharedToken(producers: readonly Producer[], apiToken: string | undefined) {
  const key = 'logs.producers';
  const seen = new Map<string, string>();
  for (const { id, token } of producers) {
    if (token === apiToken) return { key, reason: `must not give ${id} the same token as logs.apiToken` };
    const other = seen.get(token);
    if (other !== undefined && other !== id) return { key, reason: `must not give ${other} and ${id} the same token` };
    seen.set(token, id);
  }
  return undefined;
}

function missingHalf(username: string | undefined, password: string | undefined) {
  const [key, other] = ['logs.basic.username', 'logs.basic.password'];
  if (username !== undefined && password === undefined)
    return { key: other, reason: `must be set together with ${key}` };
  if (username === undefined && password !== undefined) return { key, reason: `must be set together with ${other}` };
  return undefined;
}

type LogsSettings = typeof logsSettings & {
  readonly host: { readonly type: 'string'; readonly default: string; readonly description: string };
};

export const logsRules: readonly Rule<LogsSettings>[] = [
  (values) => missingHalf(values['logs.basic.username'], values['logs.basic.password']),
  (values) =>
    values['logs.basic.username']?.includes(':')
      ? { key: 'logs.basic.username', reason: 'must not contain a colon' }
      : undefined,
  (values) => sharedToken(values['logs.producers'] as readonly Producer[], values['logs.apiToken']),
];

/** Additional rules for running the service. */
export const logsServedRules: readonly Rule<LogsSettings>[] = [
  (values) =>
    values['logs.apiToken'] === undefined &&
    values['logs.basic.password'] === undefined &&
    !values.allowOpen &&
    !isLoopback(values.host)
      ? {
          key: 'logs.apiToken',
          reason: 'must be set when listening beyond loopback, unless --allow-open is given',
        }
      : undefined,
];
