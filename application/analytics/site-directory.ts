/** Looks up sites in the cached aggregate, as every hit needs its site. */
import type { catalog } from '../../domain/analytics/catalog.js';
import { SITES, type Site, type SitesState } from '../../domain/analytics/sites.js';
import type { AggregateStore, LoadedAggregate } from '../command/index.js';
import type { Position } from '../ports/index.js';
import type { LiveEvent } from '../subscription/index.js';
import { sitesAggregate } from './aggregates.js';

export interface SiteDirectory {
  /** Returns all sites, no older than `seen`. */
  all(seen?: Position): Promise<LoadedAggregate<SitesState>>;
  /** Finds sites by id. Reads the event log for unknown ids, as another node may just have created the site. */
  find(ids: readonly string[], seen?: Position): Promise<(siteId: string) => Site | undefined>;
}

export function createSiteDirectory(
  streams: AggregateStore,
): SiteDirectory & { onEvent(event: { readonly position: Position }): void } {
  /** Position the live feed has reached; cached aggregates are at least as new. */
  let livePosition: Position = 0n;
  const all: SiteDirectory['all'] = async (seen = 0n) => {
    const loaded = await streams.load(sitesAggregate, SITES);
    return loaded.position >= seen || livePosition >= seen ? loaded : streams.reload(sitesAggregate, SITES);
  };
  return {
    onEvent({ position }) {
      livePosition = position;
    },
    all,
    async find(ids, seen) {
      let { state } = await all(seen);
      if (ids.some((id) => !state.has(id))) ({ state } = await streams.reload(sitesAggregate, SITES));
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
export const forgetEnded =
  ({ bySite, byDay }: SiteCaches) =>
  (event: LiveEvent<typeof catalog>): void => {
    if (event.type === 'SiteDeleted') for (const cache of bySite) cache.forget(event.data.instance);
    if (event.type === 'VisitorDayEnded') for (const cache of byDay) cache.forget(event.data.day);
  };
