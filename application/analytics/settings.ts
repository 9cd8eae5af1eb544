/** Settings of the analytics service. */
import { type Rule, type Settings, tokenOf } from '../config/setting.js';

export const analyticsSettings = {
  'analytics.port': {
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 3002,
    description: 'Port of the analytics service; 0 picks a free one',
  },
  'analytics.appUrl': {
    type: 'string',
    description: 'Public address of the analytics service, if it differs from the listening address',
  },
  'analytics.adminToken': {
    ...tokenOf(16),
    secret: true,
    description: 'Bearer token with full access; generated if not set and the service is only reachable locally',
  },
  'analytics.allowedEmails': {
    type: 'array',
    items: { type: 'string' },
    default: [],
    description: 'Email addresses that may sign in to the dashboard by mailed link',
  },
  'analytics.allowedDomains': {
    type: 'array',
    items: { type: 'string' },
    default: [],
    description: 'Domains whose email addresses may sign in by mailed link',
  },
  'analytics.honorDoNotTrack': {
    type: 'boolean',
    default: true,
    description: 'Ignores visitors who send DNT: 1 or Sec-GPC: 1',
  },
  'analytics.filterBots': {
    type: 'boolean',
    default: false,
    description: 'Ignores user agents that identify themselves as bots',
  },
  'analytics.countryHeader': {
    type: 'string',
    pattern: '^[A-Za-z0-9-]+$',
    form: 'the name of a header',
    description: 'Header in which a trusted proxy names the country of a visitor, such as CF-IPCountry',
  },
  'analytics.hitsPerMinute': {
    type: 'integer',
    minimum: 0,
    default: 600,
    description:
      'Hits per network and minute on sites without an ingest token; bursts of up to half of it; 0 for no limit',
  },
  'analytics.retentionDays': {
    type: 'integer',
    minimum: 1,
    maximum: 36_500,
    default: 395,
    description: 'Days that counts are kept',
  },
  'analytics.storeRaw': {
    type: 'boolean',
    default: false,
    description: 'Keeps single hits for some hours, for debugging',
  },
  'analytics.rawRetentionHours': {
    type: 'integer',
    minimum: 1,
    maximum: 8760,
    default: 24,
    description: 'Hours that single hits are kept, if analytics.storeRaw is set',
  },
} as const satisfies Settings;

type Known = typeof analyticsSettings & {
  readonly host: { readonly type: 'string'; readonly default: string; readonly description: string };
};

/** Rules across settings, checked when the service is served. `isLocal`: whether only this machine can reach a host. */
export const analyticsServedRules = (isLocal: (host: string) => boolean): readonly Rule<Known>[] => [
  (values) =>
    values['analytics.adminToken'] === undefined && !isLocal(values.host)
      ? { key: 'analytics.adminToken', reason: 'must be set if host is reachable from other machines' }
      : undefined,
];
