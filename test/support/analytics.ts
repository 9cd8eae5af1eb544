/** What happens to sites, for tests. */
import type { SiteFields, SitesCommand } from '../../domain/analytics/sites.js';

export const secretOf = (siteId: string): SiteFields => ({
  name: siteId,
  domains: ['example.com'],
  allowedEventProperties: ['plan'],
  tokenHash: null,
});

export const registerSite = (siteId: string, instance = 'one'): SitesCommand => ({
  type: 'RegisterSite',
  siteId,
  instance,
  ...secretOf(siteId),
  now: 1000,
});

export const registered = (siteId: string, instance = 'one') =>
  ({
    type: 'SiteRegistered',
    data: { siteId, instance, registeredAt: 1000, secret: secretOf(siteId) },
  }) as const;

export const changeSite = (siteId: string, changes: Partial<SiteFields>): SitesCommand => ({
  type: 'ChangeSite',
  siteId,
  changes,
  now: 2000,
});

export const deleteSite = (siteId: string): SitesCommand => ({
  type: 'DeleteSite',
  siteId,
  days: 2,
  now: 3000,
});
