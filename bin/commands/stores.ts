/** Connects commands to existing data, with or without a running server. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import type { Logger } from '../../application/ports/index.js';
import type { ReadModel } from '../../projections/kernel/index.js';
import type { Kernel } from '../node/kernel.js';
import { findServers, type Servers } from '../node/locate-servers.js';
import { release } from '../node/release.js';
import type { ServiceDefinition } from '../node/service.js';
import type { AnnalsValues } from '../settings.js';
import { Failed } from './failure.js';

/** Creates a logger that writes warnings and errors to standard error: results go to standard output. */
export const createCommandLogger = (values: Pick<AnnalsValues, 'log.format'>): Logger =>
  createLogger({ level: 'warn', format: values['log.format'], to: process.stderr });

/** Rejects with `Failed` if there is no data, and like `findServers`. */
export async function findStores(values: AnnalsValues, logger: Logger): Promise<Servers> {
  const dataDir = resolve(values.dataDir);
  const isConfigured = values['eventStore.url'] && values['mongo.url'];
  if (isConfigured || existsSync(join(dataDir, 'eventstore'))) return findServers(values, logger, { passing: true });
  throw noData(dataDir);
}

export const noData = (dataDir: string): Failed =>
  new Failed(`there is no data in ${dataDir}: start "annals serve" there or pass another --data-dir`);

export interface Tools {
  readonly kernel: Kernel;
  /** All services. */
  readonly services: readonly ServiceDefinition[];
  readonly logger: Logger;
}

/** Works with a kernel of all services, and closes it afterwards. */
export async function withKernel<Result>(
  values: AnnalsValues,
  work: (tools: Tools) => Promise<Result>,
): Promise<Result> {
  const logger = createCommandLogger(values);
  const servers = await findStores(values, logger);
  try {
    // Loaded only now: a refused command needs no drivers.
    const [{ createKernel, noMetrics }, { secretSource }, { definitions: services }] = await Promise.all([
      import('../node/kernel.js'),
      import('../node/secret.js'),
      import('../services/definitions/all.js'),
    ]);
    const kernel = await createKernel({
      ...servers,
      mongoDatabase: values['mongo.database'],
      secret: (keys) => secretSource(values, servers, keys),
      node: randomUUID(),
      release,
      catalogs: services.map(({ catalog }) => catalog),
      projections: services.flatMap(({ projections }) => projections),
      logger,
      metrics: noMetrics,
    });
    try {
      return await work({ kernel, services, logger });
    } finally {
      await kernel.close();
    }
  } finally {
    await servers.stop();
  }
}

/** Reads from the active builds of these read models. Returns whether all of them have one. */
export async function adoptActiveBuilds({ lifecycle, served }: Kernel, models: readonly ReadModel[]): Promise<boolean> {
  const adopted = models.map(async (model) => {
    const { state, revision } = await lifecycle.current(model);
    if (state) served.adopt({ ...state, revision });
    return state !== undefined;
  });
  return !(await Promise.all(adopted)).includes(false);
}
