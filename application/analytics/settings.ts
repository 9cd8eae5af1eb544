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
    description: 'Address under which pages reach the analytics service, if not the one listened on',
  },
  'analytics.adminToken': {
    ...tokenOf(16),
    secret: true,
    description: 'Bearer token that may do everything; on this machine one is made where none is given',
  },
  'analytics.allowedEmails': {
    type: 'array',
    items: { type: 'string' },
    default: [],
    description: 'Who may sign in to the dashboard by a link that is mailed',
  },
  'analytics.allowedDomains': {
    type: 'array',
    items: { type: 'string' },
    default: [],
    description: 'Domains of whose addresses everybody may',
  },
  'analytics.honorDoNotTrack': {
    type: 'boolean',
    default: true,
    description: 'Counts nobody who sends DNT: 1 or Sec-GPC: 1',
  },
  'analytics.filterBots': {
    type: 'boolean',
    default: false,
    description: 'Counts no bots that say what they are',
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
      'Hits of one network in a minute, at most half of them at once, on sites without an ingest token; 0 for no limit',
  },
  'analytics.retentionDays': {
    type: 'integer',
    minimum: 1,
    maximum: 36_500,
    default: 395,
    description: 'Days that what was counted is kept',
  },
  'analytics.storeRaw': {
    type: 'boolean',
    default: false,
    description: 'Keeps what came for some hours as it was counted, for those who look for a fault',
  },
  'analytics.rawRetentionHours': {
    type: 'integer',
    minimum: 1,
    maximum: 8760,
    default: 24,
    description: 'Hours that it is kept',
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
