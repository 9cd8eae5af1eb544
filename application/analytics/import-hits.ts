/** Takes in what was counted elsewhere, line by line: by the rules of collecting, at the times that the lines tell. */
import type { Hit } from '../../domain/analytics/catalog.js';
import { parseCountry } from '../../domain/analytics/country.js';
import { dayOf } from '../../domain/analytics/hit-batch.js';
import { parseVisit } from '../../domain/analytics/hit-payload.js';
import type { WrittenPastHit } from '../../domain/analytics/imported-hit.js';
import { DAY_MS } from '../../domain/analytics/period.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import { siteIdOf } from '../../domain/analytics/site-fields.js';
import { SITES, type SitesState } from '../../domain/analytics/sites.js';
import { clean } from '../../domain/analytics/text.js';
import { truncate } from '../../domain/shared/index.js';
import type { AggregateStore } from '../command/index.js';
import type { Clock, Derivation, UserAgentParser } from '../ports/index.js';
import { retentionAggregate, sitesAggregate } from './aggregates.js';
import { MAX_USER_AGENT } from './collect-hits.js';
import type { PastHit, StorePast } from './store-imported-hits.js';

export interface ImportPorts {
  readonly streams: AggregateStore;
  readonly agents: UserAgentParser;
  readonly derivation: Derivation;
  readonly store: StorePast;
  readonly clock: Clock;
  readonly retentionDays: number;
  readonly filterBots: boolean;
}

/** Lines in their order, all of one site and day; those that say nothing to be counted are left out. */
export interface Chunk {
  /** Counted from 1. */
  readonly firstLine: number;
  /** So many before it began with the same. */
  readonly nth: number;
  readonly hits: readonly PastHit[];
}

export interface ImportCounts {
  readonly stored: number;
  /** They were there already. */
  readonly known: number;
  /** They begin like what was imported before, and go on differently: nothing of them is taken. */
  readonly refused: number;
}

/** Clocks differ. */
const AHEAD_MS = 60_000;

export type Importing = Awaited<ReturnType<typeof createImporting>>;

/** Knows the sites that there are as it begins. */
export async function createImporting(ports: ImportPorts) {
  const { streams, agents, derivation, store, clock, retentionDays, filterBots } = ports;
  const sites: SitesState = (await streams.reload(sitesAggregate, SITES)).state;
  const { before } = (await streams.reload(retentionAggregate, RETENTION)).state;

  /** What is to be counted of a line, or why nothing is. `at` in Unix ms. */
  function judge(written: WrittenPastHit, at: number): PastHit | string {
    const { userAgent: whole = '', address, visitor } = written;
    const country = parseCountry(written.country);
    const userAgent = truncate(whole, MAX_USER_AGENT);
    const site = sites.get(siteIdOf(written.site) ?? '');
    if (!site) return `there is no site ${clean(written.site, 80)}`;
    const now = clock.now();
    if (at > now + AHEAD_MS) return 'its timestamp lies in the future';
    const day = dayOf(at);
    if (day < before || day < dayOf(now - retentionDays * DAY_MS)) return 'its day is no longer kept';
    if (filterBots && agents.isBot(userAgent)) return 'it is of a bot';
    const visit = parseVisit(written, {}, site);
    if (!visit) return 'event must be a name';
    const about = { ...agents.read(userAgent), ...(country !== undefined && { country }) };
    const hit: Hit = { ...visit.hit, ...about };
    const who = visitor ?? address;
    return {
      site,
      at,
      hit,
      visitor: who === undefined ? undefined : { address: who, userAgent: visitor === undefined ? userAgent : '' },
    };
  }

  /** What the same lines are known by, whoever came: of that nothing is derived that could be tried out later. */
  const digestOf = (hits: readonly PastHit[]) =>
    derivation.id(
      'analytics.import-hits',
      ...hits.map(({ site, at, hit }) => JSON.stringify([site.instance, at, hit])),
    );
  const lotOf = (hits: readonly PastHit[]) => `${hits.length} ${digestOf(hits)}`;

  /** `source` tells apart what begins alike. */
  async function take(source: string, { nth, hits }: Chunk): Promise<ImportCounts> {
    let [rest, known] = [hits, 0];
    while (rest.length > 0) {
      const begins = digestOf(rest.slice(0, 1));
      const id = derivation.id('analytics.import', source, String(nth), String(known), begins);
      const fingerprint = lotOf(rest);
      const { isNew, fingerprint: found } = await store({ id, fingerprint, hits: rest });
      if (isNew) return { stored: rest.length, known, refused: 0 };
      if (found === fingerprint) return { stored: 0, known: hits.length, refused: 0 };
      // It was shorter when it was imported.
      const count = Number.parseInt(found, 10);
      if (!(count < rest.length) || lotOf(rest.slice(0, count)) !== found)
        return { stored: 0, known, refused: rest.length };
      known += count;
      rest = rest.slice(count);
    }
    return { stored: 0, known, refused: 0 };
  }

  return { judge, take };
}
