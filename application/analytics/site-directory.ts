/** Looks up sites in the cached aggregate, as every hit needs its site. */
import { SITES, type Site, type SitesState } from '../../domain/analytics/sites.js';
import type { AggregateStore, LoadedAggregate } from '../command/index.js';
import type { Position } from '../ports/index.js';
import { sitesAggregate } from './aggregates.js';

export interface DirectoryPorts {
  readonly streams: AggregateStore;
  /** Position the live feed has reached; cached aggregates are at least as new. */
  readonly livePosition: () => Position;
}

export interface SiteDirectory {
  /** Returns all sites, no older than `seen`. */
  all(seen?: Position): Promise<LoadedAggregate<SitesState>>;
  /** Finds sites by id. Reads the event log for unknown ids, as another node may just have created the site. */
  find(ids: readonly string[], seen?: Position): Promise<(siteId: string) => Site | undefined>;
}

export function createSiteDirectory({ streams, livePosition }: DirectoryPorts): SiteDirectory {
  const all: SiteDirectory['all'] = async (seen = 0n) => {
    const loaded = await streams.load(sitesAggregate, SITES);
    return loaded.position >= seen || livePosition() >= seen ? loaded : streams.reload(sitesAggregate, SITES);
  };
  return {
    all,
    async find(ids, seen) {
      let { state } = await all(seen);
      if (ids.some((id) => !state.has(id))) ({ state } = await streams.reload(sitesAggregate, SITES));
      return (siteId) => state.get(siteId);
    },
  };
}
