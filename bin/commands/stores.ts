/** Finds the servers of commands that work on existing data. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Logger } from '../../application/ports/index.js';
import { findServers, type Servers } from '../node/locate-servers.js';
import type { AnnalsValues } from '../settings.js';
import { Failed } from './failure.js';

/** Rejects with `Failed` if there is no data, and like `findServers`. */
export async function findStores(values: AnnalsValues, logger: Logger): Promise<Servers> {
  const dataDir = resolve(values.dataDir);
  const isConfigured = values['eventStore.url'] && values['mongo.url'];
  if (isConfigured || existsSync(join(dataDir, 'eventstore'))) return findServers(values, logger, { passing: true });
  throw noData(dataDir);
}

export const noData = (dataDir: string): Failed =>
  new Failed(`there is no data in ${dataDir}: start "annals serve" there or pass another --data-dir`);
