/** Which sites there are, as the log has it: asked with every hit, so that it is answered from memory. */
import { SITES, type Site, type SitesState } from '../../domain/analytics/sites.js';
import type { AggregateStore, LoadedAggregate } from '../command/index.js';
import type { Position } from '../ports/index.js';
import { sitesAggregate } from './aggregates.js';

export interface DirectoryPorts {
  readonly streams: AggregateStore;
  /** How far this node has heard of the log: what it remembers of streams is no older. */
  readonly heard: () => Position;
}

export interface SiteDirectory {
  /** All sites, at least as they were at `seen`. */
  all(seen?: Position): Promise<LoadedAggregate<SitesState>>;
  /** Those of these ids that there are: another node may have made one a moment ago, so the log is asked for the rest, once. */
  find(ids: readonly string[], seen?: Position): Promise<(siteId: string) => Site | undefined>;
}

export function createDirectory({ streams, heard }: DirectoryPorts): SiteDirectory {
  const all: SiteDirectory['all'] = async (seen = 0n) => {
    const loaded = await streams.load(sitesAggregate, SITES);
    return loaded.position >= seen || heard() >= seen ? loaded : streams.reload(sitesAggregate, SITES);
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
