/** Aggregate of all sites and their settings, as site ids are unique. Stream `analytics.sites-main`. */
import { type Decider, type Evolve, PersistentMap, type Rejection, rejection } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export const SITES = 'analytics.sites-main';

export const MAX_SITES = 10_000;

/** Site settings, normalized by `site-fields.ts`. */
export interface SiteFields {
  readonly name: string;
  /** Host names. */
  readonly domains: readonly string[];
  readonly allowedEventProperties: readonly string[];
  /** Names of the events that the site is for. */
  readonly goals: readonly string[];
  /** Null for a site that accepts hits without a token. */
  readonly tokenHash: string | null;
}

export interface Site extends SiteFields {
  readonly siteId: string;
  /** Unique per created site, unlike the id. */
  readonly instance: string;
  /** Unix ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The public link to its reports; null if it has none. */
  readonly linkId: string | null;
}

/** By site id. */
export type SitesState = PersistentMap<Site>;

export type SitesCommand =
  | ({
      readonly type: 'RegisterSite';
      readonly siteId: string;
      readonly instance: string;
      readonly now: number;
    } & SiteFields)
  | {
      readonly type: 'ChangeSite';
      readonly siteId: string;
      readonly changes: Partial<SiteFields>;
      readonly now: number;
    }
  | { readonly type: 'ShareSite'; readonly siteId: string; readonly linkId: string; readonly now: number }
  | { readonly type: 'UnshareSite'; readonly siteId: string; readonly now: number }
  | {
      readonly type: 'DeleteSite';
      readonly siteId: string;
      /** Number of days with counts. */
      readonly days: number;
      readonly now: number;
    };

export type SitesEvent = AnalyticsEvent<
  'SiteRegistered' | 'SiteChanged' | 'SiteShared' | 'SiteUnshared' | 'SiteDeleted'
>;

export const siteNotFound = rejection('analytics/site-not-found', 'not-found', 'Site not found');
const siteExists = rejection('analytics/site-exists', 'invalid', 'A site with this id already exists');
const tooManySites = rejection('analytics/too-many-sites', 'invalid', `At most ${MAX_SITES} sites are allowed`);

/** Sorts by name, then by id. */
export const sortSites = (sites: SitesState): readonly Site[] =>
  [...sites.values()].sort((a, b) => compare(a.name, b.name) || compare(a.siteId, b.siteId));

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function decide(command: SitesCommand, sites: SitesState): readonly SitesEvent[] | Rejection {
  const site = sites.get(command.siteId);
  if (command.type === 'RegisterSite') {
    if (site) return siteExists;
    if (sites.size >= MAX_SITES) return tooManySites;
    const { type: _, siteId, instance, now, ...secret } = command;
    return [{ type: 'SiteRegistered', data: { siteId, instance, registeredAt: now, secret } }];
  }
  if (!site) return siteNotFound;
  const { siteId, instance, createdAt: registeredAt } = site;
  if (command.type === 'DeleteSite') {
    const { days, now: deletedAt } = command;
    return [{ type: 'SiteDeleted', data: { siteId, instance, registeredAt, deletedAt, days } }];
  }
  if (command.type === 'ShareSite') {
    const { linkId, now: sharedAt } = command;
    return site.linkId === null ? [{ type: 'SiteShared', data: { siteId, instance, linkId, sharedAt } }] : [];
  }
  if (command.type === 'UnshareSite')
    return site.linkId === null ? [] : [{ type: 'SiteUnshared', data: { siteId, instance, unsharedAt: command.now } }];
  const secret = changedFields(site, command.changes);
  if (Object.keys(secret).length === 0) return [];
  return [{ type: 'SiteChanged', data: { siteId, instance, changedAt: command.now, secret } }];
}

function changedFields(site: Site, changes: Partial<SiteFields>): Partial<SiteFields> {
  const keys = Object.keys(changes) as (keyof SiteFields)[];
  const others = keys.filter((key) => JSON.stringify(changes[key]) !== JSON.stringify(site[key]));
  return Object.fromEntries(others.map((key) => [key, changes[key]]));
}

function withLink(sites: SitesState, siteId: string, linkId: string | null): SitesState {
  const site = sites.get(siteId);
  return site ? sites.set(siteId, { ...site, linkId }) : sites;
}

const evolve: Evolve<SitesState, SitesEvent> = {
  SiteRegistered: (sites, { siteId, instance, registeredAt, secret }) =>
    sites.set(siteId, {
      goals: [],
      ...secret,
      siteId,
      instance,
      createdAt: registeredAt,
      updatedAt: registeredAt,
      linkId: null,
    }),
  SiteChanged(sites, { siteId, changedAt, secret }) {
    const site = sites.get(siteId);
    return site ? sites.set(siteId, { ...site, ...secret, updatedAt: changedAt }) : sites;
  },
  SiteShared: (sites, { siteId, linkId }) => withLink(sites, siteId, linkId),
  SiteUnshared: (sites, { siteId }) => withLink(sites, siteId, null),
  SiteDeleted: (sites, { siteId }) => sites.delete(siteId),
};

export const sites: Decider<SitesState, SitesCommand, SitesEvent> = {
  initialState: PersistentMap.empty(),
  decide,
  evolve,
};
