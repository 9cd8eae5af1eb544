/** Imports hits recorded elsewhere: validates them like collected hits and stores them at their own times. */

import type { Hit } from '../../domain/analytics/catalog.js';
import { dayOf, type ImportedHit, parseCountry, parseVisit } from '../../domain/analytics/hit.js';
import { DAY_MS } from '../../domain/analytics/report.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import { parseSiteId } from '../../domain/analytics/site-fields.js';
import { SITES, type SitesState } from '../../domain/analytics/sites.js';
import { clean, truncate } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import type { UserAgentParser } from '../ports/index.js';
import { retentionAggregate, sitesAggregate } from './aggregates.js';
import { MAX_USER_AGENT } from './collect-hits.js';
import type { HistoricalHit, StoreImportBatch } from './store-imported-hits.js';

export interface ImportPorts extends Pick<KernelPorts, 'aggregates' | 'derivation' | 'clock'> {
  readonly agents: UserAgentParser;
  readonly store: StoreImportBatch;
  readonly retentionDays: number;
  readonly filterBots: boolean;
}

/** Consecutive valid lines of one site and day. */
export interface Chunk {
  /** 1-based. */
  readonly firstLine: number;
  /** Number of earlier chunks with the same first hit. */
  readonly occurrence: number;
  readonly hits: readonly HistoricalHit[];
}

/** Tolerated clock difference. */
const MAX_AHEAD_MS = 60_000;

export type HitImporter = Awaited<ReturnType<typeof createHitImporter>>;

/** Creates an importer for the sites that exist at this moment. */
export async function createHitImporter(ports: ImportPorts) {
  const { aggregates, agents, derivation, store, clock, retentionDays, filterBots } = ports;
  const sites: SitesState = (await aggregates.reload(sitesAggregate, SITES)).state;
  const { before } = (await aggregates.reload(retentionAggregate, RETENTION)).state;

  /** Converts a line to a hit, or returns why it is ignored. `at` in Unix ms. */
  function validate(line: ImportedHit, at: number): HistoricalHit | string {
    const { userAgent: rawUserAgent = '', address, visitor } = line;
    const country = parseCountry(line.country);
    const userAgent = truncate(rawUserAgent, MAX_USER_AGENT);
    const site = sites.get(parseSiteId(line.site) ?? '');
    if (!site) return `unknown site ${clean(line.site, 80)}`;
    const now = clock.now();
    if (at > now + MAX_AHEAD_MS) return 'the timestamp is in the future';
    const day = dayOf(at);
    if (day < before || day < dayOf(now - retentionDays * DAY_MS)) return 'the day is beyond the retention period';
    if (filterBots && agents.isBot(userAgent)) return 'the user agent is a bot';
    const visit = parseVisit(line, {}, site);
    if (!visit) return 'event must be a name';
    const client = { ...agents.read(userAgent), ...(country !== undefined && { country }) };
    const hit: Hit = { ...visit.hit, ...client };
    const identity = visitor ?? address;
    return {
      site,
      at,
      hit,
      visitor:
        identity === undefined ? undefined : { address: identity, userAgent: visitor === undefined ? userAgent : '' },
    };
  }

  /** Identifies equal lines. Leaves out visitors, as a digest of them could be attacked by guessing. */
  const digestOf = (hits: readonly HistoricalHit[]) =>
    derivation.id(
      'analytics.import-hits',
      ...hits.map(({ site, at, hit }) => JSON.stringify([site.instance, at, hit])),
    );
  const fingerprintOf = (hits: readonly HistoricalHit[]) => `${hits.length} ${digestOf(hits)}`;

  /**
   * Stores a chunk and counts its hits: `known` ones an earlier import stored, `refused` ones begin like an imported chunk
   * but continue differently. `source` distinguishes chunks with equal first lines.
   */
  async function importChunk(source: string, { occurrence, hits }: Chunk) {
    let [rest, known] = [hits, 0];
    while (rest.length > 0) {
      const firstDigest = digestOf(rest.slice(0, 1));
      const id = derivation.id('analytics.import', source, String(occurrence), String(known), firstDigest);
      const fingerprint = fingerprintOf(rest);
      const { isNew, fingerprint: found } = await store({ id, fingerprint, hits: rest });
      if (isNew) return { stored: rest.length, known, refused: 0 };
      if (found === fingerprint) return { stored: 0, known: hits.length, refused: 0 };
      // The chunk was shorter when it was imported: skip the stored part.
      const count = Number.parseInt(found, 10);
      if (!(count < rest.length) || fingerprintOf(rest.slice(0, count)) !== found)
        return { stored: 0, known, refused: rest.length };
      known += count;
      rest = rest.slice(count);
    }
    return { stored: 0, known, refused: 0 };
  }

  return { validate, importChunk };
}
