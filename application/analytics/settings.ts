/** Settings of the analytics service. */
import { boolean, integer, port, type Rule, type Settings, string, strings, tokenOf } from '../config/setting.js';

export const analyticsSettings = {
  'analytics.port': port(3002, 'Port of the analytics service; 0 picks a free one'),
  'analytics.appUrl': string('Public address of the analytics service, if it differs from the listening address'),
  'analytics.adminToken': {
    ...tokenOf(16),
    secret: true,
    description: 'Bearer token with full access; generated if not set and the service is only reachable locally',
  },
  'analytics.allowedEmails': strings([], 'Email addresses that may sign in to the dashboard by mailed link'),
  'analytics.allowedDomains': strings([], 'Domains whose email addresses may sign in by mailed link'),
  'analytics.honorDoNotTrack': boolean(true, 'Ignores visitors who send DNT: 1 or Sec-GPC: 1'),
  'analytics.filterBots': boolean(false, 'Ignores user agents that identify themselves as bots'),
  'analytics.countryHeader': {
    type: 'string',
    pattern: '^[A-Za-z0-9-]+$',
    form: 'the name of a header',
    description: 'Header in which a trusted proxy names the country of a visitor, such as CF-IPCountry',
  },
  'analytics.hitsPerMinute': integer(
    600,
    'Hits per network and minute on sites without an ingest token; bursts of up to half of it; 0 for no limit',
    { minimum: 0 },
  ),
  'analytics.retentionDays': integer(395, 'Days that counts are kept', { maximum: 36_500 }),
  'analytics.storeRaw': boolean(false, 'Keeps single hits for some hours, for debugging'),
  'analytics.rawRetentionHours': integer(24, 'Hours that single hits are kept, if analytics.storeRaw is set', {
    maximum: 8760,
  }),
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
