/** Everything that can be configured: the common settings and those of every service, and what must not be combined. */
import { createClientAddress } from '../adapters/system/client-address.js';
import type { Config } from '../adapters/system/config.js';
import { commonSettings } from '../adapters/system/settings.js';
import { alertSettings } from '../application/logs/alert-settings.js';
import { logsRules, logsSettings } from '../application/logs/settings.js';
import { roomsSettings } from '../application/rooms/settings.js';
import type { Rule, ValuesOf } from '../application/settings.js';

export const settings = { ...commonSettings, ...logsSettings, ...alertSettings, ...roomsSettings };

export type AnnalsSettings = typeof settings;
export type AnnalsConfig = Config<AnnalsSettings>;
export type AnnalsValues = ValuesOf<AnnalsSettings>;

export const rules: readonly Rule<AnnalsSettings>[] = [
  (values) => {
    try {
      createClientAddress(values['server.trustedProxies']);
      return undefined;
    } catch {
      return { key: 'server.trustedProxies', reason: 'must be a list of addresses and CIDR blocks' };
    }
  },
  (values) =>
    values['rooms.minTtlMs'] > values['rooms.maxTtlMs']
      ? { key: 'rooms.minTtlMs', reason: 'must not be more than rooms.maxTtlMs' }
      : undefined,
  ...logsRules,
  (values) =>
    !values['eventStore.url'] === !values['mongo.url']
      ? undefined
      : {
          key: values['mongo.url'] ? 'eventStore.url' : 'mongo.url',
          reason: 'must be given as well: both servers are yours, or both are embedded',
        },
];
