/** The kernel of a node without its services, for tests that connect parts of a service to it themselves, and its projectors. */
import { randomUUID } from 'node:crypto';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { createKernel, type Kernel, noMetrics } from '../../bin/node/kernel.js';
import type { Service } from '../../bin/node/service.js';
import { type Catalog, serviceOf } from '../../domain/shared/decider.js';
import type { ReadModel } from '../../projections/kernel/projection.js';
import { type Projector, type ProjectorOptions, runProjector } from '../../projections/kernel/projector.js';

export interface KernelOptions {
  readonly servers: Servers;
  readonly database: string;
  readonly catalogs: readonly Catalog[];
  readonly projections: readonly ReadModel[];
  /** Name of the node. A node with the name of a killed one takes over its leases immediately. */
  readonly node?: string;
}

export const createTestKernel = ({ servers, database, catalogs, projections, node }: KernelOptions): Promise<Kernel> =>
  createKernel({
    metrics: noMetrics,
    eventStoreUrl: servers.eventStoreUrl,
    mongoUrl: servers.mongoUrl,
    mongoDatabase: database,
    node: node ?? randomUUID(),
    release: 'test',
    catalogs,
    projections,
    logger: silentLogger,
  });

export interface OwnKernel {
  readonly kernel: Kernel;
  stop(): Promise<void>;
}

/** Starts a kernel on servers of its own. */
export async function startKernel(
  catalogs: readonly Catalog[] = [],
  projections: readonly ReadModel[] = [],
): Promise<OwnKernel> {
  const servers = await startServers();
  const database = `test_${randomUUID().slice(0, 8)}`;
  const kernel = await createTestKernel({ servers, database, catalogs, projections });
  return {
    kernel,
    async stop() {
      await kernel.mongo.models.dropDatabase();
      await kernel.close();
      await servers.stop();
    },
  };
}

export interface ServiceKernel {
  readonly kernel: Kernel;
  /** Aborted by `stop`. */
  readonly signal: AbortSignal;
  /** Aborts the signal, waits for what runs, and closes the kernel. */
  stop(running: readonly Promise<unknown>[]): Promise<void>;
}

/** Starts a kernel with the read models of one service opened. */
export async function startServiceKernel(
  options: Omit<KernelOptions, 'catalogs' | 'projections'> & Pick<Service, 'catalog' | 'projections'>,
): Promise<ServiceKernel> {
  const { catalog, projections } = options;
  const kernel = await createTestKernel({ ...options, catalogs: [catalog] });
  const stop = new AbortController();
  const { signal } = stop;
  await kernel.lifecycle.ensureActive(projections, kernel.served, { signal });
  return {
    kernel,
    signal,
    async stop(running) {
      stop.abort();
      await Promise.all(running);
      await kernel.close();
    },
  };
}

type Parts = Pick<Kernel, 'follow' | 'builds' | 'checkpoints' | 'leases' | 'served' | 'projectionProgress' | 'head'>;

/** Runs one loop for read models of one service until the signal. */
export function project(
  kernel: Parts,
  projections: readonly ReadModel[],
  signal: AbortSignal,
  more: Partial<ProjectorOptions> = {},
): Projector {
  const service = serviceOf(projections[0]!.name);
  const group = { name: service, service, projections };
  const { advanced, debounceUntilAwaited } = kernel.projectionProgress;
  return runProjector({
    ...kernel,
    advanced: advanced,
    debounceUntilAwaited: debounceUntilAwaited,
    group,
    logger: silentLogger,
    signal,
    ...more,
  });
}
