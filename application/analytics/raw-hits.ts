/** Reads raw hit records, which are stored for debugging; available to operators only. */
import { siteSubject } from '../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../domain/analytics/hit-batch.js';
import type { Rows, Vault } from '../ports/index.js';

export const RAW_MODEL = 'analytics.raw';

export interface RawPorts {
  readonly rows: Pick<Rows, 'find'>;
  readonly vault: Pick<Vault, 'open'>;
}

interface RawRow {
  readonly at: number;
  readonly secret: string;
}

/** Reads the newest `limit` records of a site, newest last. A record may hold several hits. */
export async function readNewestRawHits({ rows, vault }: RawPorts, instance: string, limit: number) {
  const query = { filter: { site: instance }, sort: { at: -1 }, limit } as const;
  const found = await rows.find<RawRow>(RAW_MODEL, query);
  const hits: object[] = [];
  for (const { at, secret } of found.toReversed()) {
    const decrypted = (await vault.open(siteSubject({ instance }), secret)) as
      | HitsCollected['data']['secret']
      | undefined;
    for (const hit of decrypted?.hits ?? []) hits.push({ timestamp: new Date(at).toISOString(), ...hit });
  }
  return hits;
}
