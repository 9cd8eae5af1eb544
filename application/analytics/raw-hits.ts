/** What is kept for those who look for a fault: whoever may read the stores reads it, newest last. */
import { siteSubject } from '../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../domain/analytics/hit-batch.js';
import type { Rows, Vault } from '../ports/index.js';

export const RAW_MODEL = 'analytics.raw';

export interface RawPorts {
  readonly rows: Pick<Rows, 'find'>;
  readonly vault: Pick<Vault, 'open'>;
}

interface Kept {
  readonly at: number;
  readonly secret: string;
}

/** The last of what was kept of a site; `most` moments, of which each may be of several hits. */
export async function newestRaw({ rows, vault }: RawPorts, instance: string, most: number) {
  const query = { filter: { site: instance }, sort: { at: -1 }, limit: most } as const;
  const found = await rows.find<Kept>(RAW_MODEL, query);
  const hits: object[] = [];
  for (const { at, secret } of found.toReversed()) {
    const opened = (await vault.open(siteSubject({ instance }), secret)) as HitsCollected['data']['secret'] | undefined;
    for (const hit of opened?.hits ?? []) hits.push({ timestamp: new Date(at).toISOString(), ...hit });
  }
  return hits;
}
