/** Composes the console of the operations port: its page, and the routes that it reads. */
import { resolve } from 'node:path';
import { createEventBrowser, createStoredEventReader } from '../../adapters/eventstore/browse-events.js';
import { eventRoutes } from '../../adapters/http/console/events.js';
import { nodeRoutes } from '../../adapters/http/console/node.js';
import { reindexRoutes } from '../../adapters/http/console/reindex.js';
import type { Route } from '../../adapters/http/server/route.js';
import { pageRoutes } from '../../adapters/http/server/web-page.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import type { Logger } from '../../application/ports/index.js';
import { servedEvents } from '../../domain/shared/index.js';
import type { AnnalsValues, ServiceName } from '../settings.js';
import type { Kernel } from './kernel.js';
import type { Servers } from './locate-servers.js';
import { release } from './release.js';
import type { Service } from './service.js';
import { storesOf } from './start-table.js';

export interface ConsoleOptions {
  readonly kernel: Kernel;
  readonly services: readonly Service[];
  readonly values: AnnalsValues;
  readonly servers: Pick<Servers, 'kind' | 'memory'>;
  readonly metrics: Pick<Metrics, 'activity'>;
  /** Addresses of the services, by their names. */
  readonly urls: ReadonlyMap<string, { readonly url: () => string }>;
  readonly nodes: () => Iterable<string>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** For everybody: it contains no data. */
export const consolePage = (): readonly Route[] => pageRoutes('console', 'Console');

export function consoleRoutes(options: ConsoleOptions): readonly Route[] {
  const { kernel, services, values, servers, metrics, urls, nodes, logger, signal } = options;
  const types = new Map(
    services.map(({ name, catalog }) => [name, Object.keys({ ...catalog.events, ...servedEvents }).sort()]),
  );
  const { client, leases, lifecycle, node } = kernel;
  return [
    ...nodeRoutes({
      node,
      release,
      services: () =>
        services.map(({ name }) => ({
          name,
          url: values[`${name as ServiceName}.appUrl`] ?? urls.get(name)?.url() ?? '',
        })),
      nodes,
      stores: storesOf(servers.kind),
      memory: servers.memory ?? (() => new Map()),
      directory: servers.kind === 'given' ? undefined : resolve(values.dataDir),
      eventTypes: types,
      holders: leases.holders,
      activity: metrics.activity,
    }),
    ...reindexRoutes({ models: services.flatMap(({ projections }) => projections), lifecycle, logger, signal }),
    ...eventRoutes({ browser: createEventBrowser(client), eventAt: createStoredEventReader(client), types }),
  ];
}
