/** Finds the servers for commands that work on what is there, and make nothing. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../../application/ports/index.js';
import { findServers, type Servers } from '../node/locate-servers.js';
import type { AnnalsValues } from '../settings.js';
import { Failed } from './failure.js';

/** Rejects with `Failed` where there is no store, and as `findServers` does. */
export async function findStores(values: AnnalsValues, logger: Logger): Promise<Servers> {
  const dataDir = resolve(values.dataDir);
  const given = values['eventStore.url'] && values['mongo.url'];
  if (given || existsSync(join(dataDir, 'eventstore'))) return findServers(values, logger, { passing: true });
  throw noData(dataDir);
}

export const noData = (dataDir: string): Failed =>
  new Failed(`there is no data in ${dataDir}: start "annals serve" there, or name another --data-dir`);
