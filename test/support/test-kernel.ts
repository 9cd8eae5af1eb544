/** The kernel of a node without its services, over engines with an empty store: the ground that read models stand on. */
import { randomUUID } from 'node:crypto';
import { silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { createKernel, type Kernel, noMetrics } from '../../bin/node/kernel.js';
import type { Catalog } from '../../domain/shared/catalog.js';
import type { ReadModel } from '../../projections/kernel/projection.js';

export interface Ground {
  readonly kernel: Kernel;
  stop(): Promise<void>;
}

export async function startGround(
  catalogs: readonly Catalog[] = [],
  projections: readonly ReadModel[] = [],
): Promise<Ground> {
  const { eventStoreUrl, mongoUrl, stop } = await startServers();
  const kernel = await createKernel({
    metrics: noMetrics,
    eventStoreUrl,
    mongoUrl,
    mongoDatabase: `test_${randomUUID().slice(0, 8)}`,
    node: 'test',
    release: 'test',
    catalogs,
    projections,
    logger: silentLogger,
  });
  return {
    kernel,
    async stop() {
      await kernel.mongo.models.dropDatabase();
      await kernel.close();
      await stop();
    },
  };
}
