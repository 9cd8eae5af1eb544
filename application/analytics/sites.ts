/** Commands and queries of sites: create, update, share, delete, list. */

import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import {
  invalidSite,
  parseSiteFields,
  parseSiteId,
  SITE_LIMITS,
  type SiteFieldsInput,
  suggestSiteId,
} from '../../domain/analytics/site-fields.js';
import {
  SITES,
  type Site,
  type SitesEvent,
  type SitesState,
  siteNotFound,
  sortSites,
} from '../../domain/analytics/sites.js';
import { isRejection, type Rejection, sameText } from '../../domain/shared/index.js';
import type {
  AggregateStore,
  CommandOutcome,
  CommandResult,
  Handled,
  KernelPorts,
  LoadedAggregate,
} from '../command/index.js';
import type { CommandContext, Position, Vault } from '../ports/index.js';
import { handleByType } from '../subscription/index.js';
import { sitesAggregate } from './aggregates.js';

export interface SitePorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'derivation' | 'clock'> {
  readonly directory: SiteDirectory;
  readonly vault: Pick<Vault, 'create' | 'destroy'>;
  /** Number of days of a site with counts. */
  readonly countDays: (instance: string) => Promise<number>;
  /** URL of the service, where the tracker is loaded from. */
  readonly appUrl: () => string;
}

/** Input for creating or updating a site; an empty token removes the token. */
export interface SiteInput extends SiteFieldsInput {
  readonly id?: string | undefined;
  readonly ingestToken?: string | undefined;
}

/** View model of a site; times in ISO 8601. */
export interface SiteView {
  readonly id: string;
  readonly name: string;
  readonly domains: readonly string[];
  readonly allowedEventProperties: readonly string[];
  readonly goals: readonly string[];
  readonly hasIngestToken: boolean;
  readonly snippet: string;
  /** Public link to its reports; null if it has none. */
  readonly shareUrl: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const TOKEN = new RegExp(`^[!-~]{1,${SITE_LIMITS.token}}$`);

export type Sites = ReturnType<typeof createSites>;

export function createSites({ handle, aggregates, directory, vault, derivation, clock, countDays, appUrl }: SitePorts) {
  async function create(
    { id, ingestToken = '', ...input }: SiteInput,
    context: CommandContext,
  ): CommandOutcome<{ readonly site: SiteView }> {
    const siteId = id === undefined || id.trim() === '' ? suggestSiteId(input.name ?? '') : parseSiteId(id);
    if (siteId === undefined) return invalidId;
    const fields = parseSiteFields({ ...input, name: input.name?.trim() || siteId });
    if (isRejection(fields)) return fields;
    const tokenHash = hashOf(siteId, ingestToken);
    if (isRejection(tokenHash)) return tokenHash;
    const instance = derivation.id('analytics.site', context.commandId);
    // Events are encrypted, so the site's key must exist before the first event.
    const createKey = () => vault.create(siteSubject({ instance }));
    const { name = siteId, domains = [], allowedEventProperties = [], goals = [] } = fields;
    const attributes = { siteId, instance, name, domains, allowedEventProperties, goals, tokenHash };
    const command = { type: 'RegisterSite' as const, ...attributes, now: clock.now() };
    return siteResult(siteId, await handle(sitesAggregate, SITES, command, context, createKey));
  }

  async function update(
    id: string,
    { id: newId, ingestToken, ...rest }: SiteInput,
    context: CommandContext,
  ): CommandOutcome<{ readonly site: SiteView }> {
    const siteId = parseSiteId(id);
    if (siteId === undefined) return siteNotFound;
    if (newId !== undefined && parseSiteId(newId) !== siteId) return fixedId;
    const fields = parseSiteFields(rest);
    if (isRejection(fields)) return fields;
    const tokenHash = ingestToken === undefined ? undefined : hashOf(siteId, ingestToken);
    if (isRejection(tokenHash)) return tokenHash;
    const changes = { ...fields, ...(tokenHash !== undefined && { tokenHash }) };
    const command = { type: 'ChangeSite' as const, siteId, changes, now: clock.now() };
    return siteResult(siteId, await handle(sitesAggregate, SITES, command, context));
  }

  /** Makes the public link to the site's reports, or answers the one that it has. */
  async function share(id: string, context: CommandContext) {
    const siteId = parseSiteId(id) ?? '';
    const linkId = derivation.id('analytics.share', context.commandId);
    const command = { type: 'ShareSite' as const, siteId, linkId, now: clock.now() };
    return siteResult(siteId, await handle(sitesAggregate, SITES, command, context));
  }

  async function unshare(id: string, context: CommandContext) {
    const siteId = parseSiteId(id) ?? '';
    const command = { type: 'UnshareSite' as const, siteId, now: clock.now() };
    return siteResult(siteId, await handle(sitesAggregate, SITES, command, context));
  }

  /** Token of a public link: the site's id and a secret. Derived, so that people who are signed in can copy it again. */
  const shareToken = ({ siteId, instance }: Site, linkId: string): string =>
    `${siteId}.${derivation.secret('analytics.share-token', instance, linkId).toString('base64url')}`;

  /** Finds the site of a public link. Reads the log, as a link must end on every node when it is revoked. */
  async function findShared(token: string): Promise<Site | undefined> {
    const site = (await aggregates.reload(sitesAggregate, SITES)).state.get(token.split('.', 1)[0] ?? '');
    return site && site.linkId !== null && sameText(token, shareToken(site, site.linkId)) ? site : undefined;
  }

  /** Resolves when the event is stored and the key is destroyed; a reaction erases the rest. */
  async function remove(id: string, context: CommandContext) {
    const siteId = parseSiteId(id);
    if (siteId === undefined) return siteNotFound;
    const site = (await directory.find([siteId]))(siteId);
    const days = site ? await countDays(site.instance) : 0;
    const command = { type: 'DeleteSite' as const, siteId, days, now: clock.now() };
    const outcome = await handle(sitesAggregate, SITES, command, context);
    if (isRejection(outcome)) return outcome;
    const [deleted] = outcome.events;
    if (!deleted) throw new Error('a site was deleted without an event');
    // A repeated command answers with the event of its first run.
    const { instance, days: deletedDays = 0 } = deleted.data as AnalyticsEvent<'SiteDeleted'>['data'];
    await vault.destroy(siteSubject({ instance }));
    return { body: { id: siteId, days: deletedDays }, position: outcome.position };
  }

  async function list(seen?: Position): Promise<CommandResult<{ readonly sites: readonly SiteView[] }>> {
    const { state, position } = await directory.all(seen);
    return { body: { sites: sortSites(state).map(view) }, position };
  }

  async function siteResult(siteId: string, outcome: Handled<SitesState, SitesEvent> | Rejection) {
    if (isRejection(outcome)) return outcome;
    const site = (await outcome.state()).get(siteId);
    if (!site) throw new Error('site is missing after it was written');
    return { body: { site: view(site) }, position: outcome.position };
  }

  /** Keyed hash per site: tokens cannot be guessed from the log, nor compared between sites. */
  function hashOf(siteId: string, token: string): string | null | Rejection {
    if (token === '') return null;
    if (!TOKEN.test(token)) return invalidToken;
    return derivation.secret('analytics.ingest-token', siteId, token).toString('base64url');
  }

  /** Whether the token is the site's ingest token. */
  function isTokenOf({ siteId, tokenHash }: Site, token: string | undefined): boolean {
    if (tokenHash === null || token === undefined) return false;
    const hash = hashOf(siteId, token);
    return typeof hash === 'string' && sameText(hash, tokenHash);
  }

  function view(site: Site): SiteView {
    const { siteId: id, name, domains, allowedEventProperties, goals, tokenHash, linkId, createdAt, updatedAt } = site;
    return {
      id,
      name,
      domains,
      allowedEventProperties,
      goals,
      hasIngestToken: tokenHash !== null,
      snippet: `<script defer src="${baseUrl(appUrl())}/m.js" data-site="${id}"></script>`,
      shareUrl: linkId === null ? null : `${baseUrl(appUrl())}/share#${shareToken(site, linkId)}`,
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
    };
  }

  return { create, update, share, unshare, findShared, remove, list, isTokenOf };
}

const invalidId = invalidSite(
  `id must have 1 to ${SITE_LIMITS.id} lower-case letters, digits, _ or -; without an id, name must contain some of these`,
);
const fixedId = invalidSite('id cannot be changed');
const invalidToken = invalidSite(`ingestToken must have 1 to ${SITE_LIMITS.token} visible ASCII characters`);

/** Removes query and trailing slashes from a URL, so that paths can be appended. */
export function baseUrl(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, '');
}

export interface SiteDirectory {
  /** Returns all sites, no older than `seen`. */
  all(seen?: Position): Promise<LoadedAggregate<SitesState>>;
  /** Finds sites by id. Reads the event log for unknown ids, as another node may just have created the site. */
  find(ids: readonly string[], seen?: Position): Promise<(siteId: string) => Site | undefined>;
}

export function createSiteDirectory(
  aggregates: AggregateStore,
): SiteDirectory & { onEvent(event: { readonly position: Position }): void } {
  /** Position the live feed has reached; cached aggregates are at least as new. */
  let livePosition: Position = 0n;
  const all: SiteDirectory['all'] = async (seen = 0n) => {
    const loaded = await aggregates.load(sitesAggregate, SITES);
    return loaded.position >= seen || livePosition >= seen ? loaded : aggregates.reload(sitesAggregate, SITES);
  };
  return {
    onEvent({ position }) {
      livePosition = position;
    },
    all,
    async find(ids, seen) {
      let { state } = await all(seen);
      if (ids.some((id) => !state.has(id))) ({ state } = await aggregates.reload(sitesAggregate, SITES));
      return (siteId) => state.get(siteId);
    },
  };
}

/** Caches by site instance, and caches by day. */
export interface SiteCaches {
  readonly bySite: readonly { forget(instance: string): void }[];
  readonly byDay: readonly { forget(day: string): void }[];
}

/** Creates the handler that drops cached data of deleted sites and of visitors of ended days. */
export const forgetEnded = ({ bySite, byDay }: SiteCaches) =>
  handleByType<AnalyticsEvent<'SiteDeleted' | 'VisitorDayEnded'>>({
    SiteDeleted({ data: { instance } }) {
      for (const cache of bySite) cache.forget(instance);
    },
    VisitorDayEnded({ data: { day } }) {
      for (const cache of byDay) cache.forget(day);
    },
  });
