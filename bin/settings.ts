/** All settings of the program, and the rules that combinations of them must meet. */
import { resolve } from 'node:path';
import { createClientAddress } from '../adapters/http/server/client-network.js';
import type { Config } from '../adapters/platform/config/config.js';
import { commonSettings } from '../adapters/platform/config/settings.js';
import { analyticsServedRules, analyticsSettings } from '../application/analytics/settings.js';
import { chatRules, chatSettings } from '../application/chat/settings.js';
import { oauthRules, oauthSettings } from '../application/config/oauth-settings.js';
import type { Rule, Settings, ValuesOf } from '../application/config/setting.js';
import { alertSettings, isLoopback, logsRules, logsServedRules, logsSettings } from '../application/logs/settings.js';
import { mailSettings } from '../application/mail/settings.js';
import { meetingRules, meetingSettings } from '../application/meeting/settings.js';
import { roomsSettings } from '../application/rooms/settings.js';
import { readUrl } from '../domain/shared/index.js';

const chat = { ...chatSettings, ...mailSettings, ...oauthSettings };
const analytics = { ...analyticsSettings, ...mailSettings };
const logs = { ...logsSettings, ...alertSettings };

export const settings = {
  ...commonSettings,
  ...chat,
  ...meetingSettings,
  ...analyticsSettings,
  ...logs,
  ...roomsSettings,
};

/** Names of the services; `bin/services/all.ts` loads them. */
export const serviceNames = ['chat', 'meeting', 'analytics', 'logs', 'rooms'] as const;
export type ServiceName = (typeof serviceNames)[number];

const serviceSettings: { readonly [service in ServiceName]: Settings } = {
  chat,
  meeting: meetingSettings,
  analytics,
  logs,
  rooms: roomsSettings,
};

/** Keys of the settings that `serve` uses for these services. */
export const settingsServing = (services: readonly ServiceName[]): readonly string[] =>
  [commonSettings, ...services.map((service) => serviceSettings[service])].flatMap(Object.keys);

/** Keys of the settings a command needs to find the stores and to decrypt data. */
export const STORE_SETTINGS = [
  'dataDir',
  'secret',
  'eventStore.url',
  'mongo.url',
  'mongo.database',
  'log.format',
] as const satisfies readonly (keyof typeof settings)[];

/** Keys of the settings of commands on the transparency log. */
export const AUDIT_SETTINGS: readonly string[] = [...STORE_SETTINGS, 'audit.name', 'audit.witnesses'];

export type AnnalsSettings = typeof settings;
export type AnnalsConfig = Config<AnnalsSettings>;
export type AnnalsValues = ValuesOf<AnnalsSettings>;

const ORIGIN = /^(?:\*|[a-z][a-z0-9+.-]*:\/\/[^\s/?#]+)$/;

/** An address and a verifier key, with a space between them. */
const WITNESS = /^https?:\/\/[^\s@]+ [^\s+]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}$/;

const rules: readonly Rule<AnnalsSettings>[] = [
  ...oauthRules,
  (values) => {
    try {
      createClientAddress(values['server.trustedProxies']);
      return undefined;
    } catch {
      return { key: 'server.trustedProxies', reason: 'must be a list of addresses and CIDR blocks' };
    }
  },
  (values) =>
    values['audit.witnesses'].every((witness) => WITNESS.test(witness))
      ? undefined
      : { key: 'audit.witnesses', reason: 'must list addresses, each with the key of its witness' },
  (values) =>
    values['backup.directory'] !== undefined &&
    `${resolve(values['backup.directory'])}/`.startsWith(`${resolve(values.dataDir)}/`)
      ? { key: 'backup.directory', reason: 'must be outside of the data directory' }
      : undefined,
  (values) =>
    values['backup.directory'] !== undefined && (values['eventStore.url'] || values['mongo.url'])
      ? { key: 'backup.directory', reason: 'is for the embedded engines; back up configured servers with their tools' }
      : undefined,
  (values) =>
    values['rooms.minTtlMs'] > values['rooms.maxTtlMs']
      ? { key: 'rooms.minTtlMs', reason: 'must be at most rooms.maxTtlMs' }
      : undefined,
  (values) =>
    ['0.0.0.0', '::', '[::]'].includes(values['mesh.host']) && !values['mesh.address']
      ? { key: 'mesh.address', reason: 'is required when mesh.host is a wildcard address' }
      : undefined,
  ...meetingRules,
  ...logsRules,
  ...(['chat.appUrl', 'auth.appUrl', 'meeting.appUrl', 'analytics.appUrl', 'logs.appUrl', 'rooms.appUrl'] as const).map(
    (key) => (values: AnnalsValues) => {
      const url = values[key];
      if (url === undefined || /^https?:$/.test(readUrl(url)?.protocol ?? '')) return undefined;
      return { key, reason: 'must be an http or https URL' };
    },
  ),
  ...(['server.allowedOrigins', 'logs.allowedOrigins', 'rooms.allowedOrigins'] as const).map(
    (key) => (values: AnnalsValues) => {
      if ((values[key] ?? []).every((origin) => ORIGIN.test(origin))) return undefined;
      return { key, reason: 'must list origins such as https://a.example, without a path, or *' };
    },
  ),
  (values) =>
    !values['eventStore.url'] === !values['mongo.url']
      ? undefined
      : {
          key: values['mongo.url'] ? 'eventStore.url' : 'mongo.url',
          reason: 'is required as well: configure both servers, or neither to use the embedded ones',
        },
];

const servedRules: { readonly [service in ServiceName]: readonly Rule<AnnalsSettings>[] } = {
  chat: chatRules(isLoopback),
  meeting: [],
  analytics: analyticsServedRules(isLoopback),
  logs: logsServedRules,
  rooms: [],
};

/** The rules for these services. Rules about access to a service apply only where it runs. */
export const rulesOf = (served: readonly ServiceName[]): readonly Rule<AnnalsSettings>[] => [
  ...rules,
  ...served.flatMap((service) => servedRules[service]),
];
