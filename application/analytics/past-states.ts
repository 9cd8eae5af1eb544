/** Past states of sites. */
import { catalog } from '../../domain/analytics/catalog.js';
import { SITES, type SitesEvent, type SitesState, sites } from '../../domain/analytics/sites.js';
import { evolveOf } from '../../domain/shared/index.js';
import { isoTime, type ThingKind } from '../audit/index.js';

interface PastSite {
  readonly sites: SitesState;
  /** Unix ms; absent while the site exists. */
  readonly deletedAt?: number;
}

const evolveSites = evolveOf(sites);

/** A site id can be used again: at each time it is that of the newest site. */
const pastSites: ThingKind<PastSite> = {
  name: 'site',
  catalog,
  initialState: { sites: sites.initialState },
  streamOf: (id) => (id === '' ? undefined : SITES),
  isAbout: (id, { siteId }) => siteId === id,
  evolve: ({ sites }, event: SitesEvent) => ({
    sites: evolveSites(sites, event),
    ...(event.type === 'SiteDeleted' && { deletedAt: event.data.deletedAt }),
  }),
  view({ sites, deletedAt }, { id, secret }) {
    if (deletedAt !== undefined) return { id, deletedAt: isoTime(deletedAt) };
    const site = sites.get(id);
    if (!site) return undefined;
    const { name, domains, allowedEventProperties, goals, tokenHash, linkId, createdAt, updatedAt } = site;
    return {
      id,
      name: secret(name),
      domains: secret(domains),
      allowedEventProperties: secret(allowedEventProperties),
      goals: secret(goals),
      hasIngestToken: secret(tokenHash !== null),
      isShared: linkId !== null,
      createdAt: isoTime(createdAt),
      updatedAt: isoTime(updatedAt),
    };
  },
};

export const analyticsThings: readonly ThingKind[] = [pastSites];
