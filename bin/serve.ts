/** `annals serve`: services, read models, reactions and the operations port, in one process of one or many nodes. */
import { resolve } from 'node:path';
import { Argument } from 'commander';
import { operationsPolicy, operationsRoutes } from '../adapters/http/operations.js';
import { type Listening, listen } from '../adapters/http/server.js';
import { createClientAddress } from '../adapters/system/client-address.js';
import { createLog } from '../adapters/system/log.js';
import { createMetrics, type Metrics } from '../adapters/system/metrics.js';
import { shutdownOn } from '../adapters/system/shutdown.js';
import { runFeed } from '../application/feed.js';
import { runPeriodically } from '../application/periodic.js';
import type { Log, RecordedEvent } from '../application/ports.js';
import { runReaction } from '../application/reactions.js';
import type { ServedBuild } from '../domain/shared/served.js';
import { built } from '../projections/catch-up.js';
import { runProjector } from '../projections/subscription.js';
import type { Call, CommandSpec } from './command.js';
import { findServers, nodeName } from './connect.js';
import { createKernel, type Kernel } from './kernel.js';
import { release } from './release.js';
import type { Part, RunningService, Service } from './service.js';
import { services } from './services.js';
import { statusOf } from './status.js';

export const serve: CommandSpec = {
  name: 'serve',
  summary: 'Run services',
  description:
    'Runs the named services, or all of them, each on a port of its own. Without addresses of servers it starts ' +
    'an embedded event store and an embedded MongoDB on the data directory.',
  examples: [
    ['serve', 'everything, on embedded engines in ./data'],
    ['serve rooms --rooms-port 8004', 'one service'],
    ['serve --event-store-url esdb://es:2113?tls=false --mongo-url mongodb://db/', 'on real servers'],
  ],
  arguments: [new Argument('[service...]', 'Services to run').choices(services.map(({ name }) => name))],
  async run({ config: { values }, args }: Call) {
    const log = createLog({ level: values['log.level'], format: values['log.format'] });
    const metrics = createMetrics();
    const chosen = args.length > 0 ? services.filter(({ name }) => args.includes(name)) : services;
    const servers = await findServers(values, log);
    const kernel = await createKernel({
      ...servers,
      mongoDatabase: values['mongo.database'],
      node: nodeName(values.dataDir),
      release,
      catalogs: chosen.map(({ catalog }) => catalog),
      projections: chosen.flatMap(({ projections }) => projections),
      logger: log,
      onAppended: metrics.appended,
      onConflict: metrics.conflicted,
    });
    const running = new AbortController();
    const context = { kernel, values, release, metrics, logger: log };
    const { signal } = running;
    await kernel.lifecycle.open(
      chosen.flatMap(({ projections }) => projections),
      kernel.served,
      { signal, onProgress: ({ events }) => log.info({ events }, 'building a read model') },
    );
    const parts = chosen.map((service) => start(service, service.connect(context), context, signal));
    const feed = await startFeed(kernel, parts, log, signal);
    const http = { host: values.host, derivation: kernel.derivation, log, answered: metrics.answered };
    const clientAddress = createClientAddress(values['server.trustedProxies']);
    const open = (policy: RunningService['policy'], routes: RunningService['routes'], port: number) =>
      listen(policy, routes, { ...http, clientAddress, port });

    const listening: Listening[] = [];
    const steps = [
      { name: 'connections', run: () => closeAll(listening, parts) },
      { name: 'background', run: () => stopBackground(running, parts, feed) },
      { name: 'drivers', run: () => kernel.close() },
      { name: 'engines', run: () => servers.stop() },
    ];
    try {
      for (const { service, connected } of parts) {
        const { url } = await remember(open(connected.policy, connected.routes, service.port(values)));
        log.info({ service: service.name, url }, `${service.name} on ${url}`);
      }
      const policy = operationsPolicy(release);
      const routes = operationsRoutes(policy, statusOf(kernel, parts), metrics, values['operations.token']);
      const { url } = await remember(open(policy, routes, values['operations.port']));
      log.info({ service: 'operations', url }, `operations on ${url}`);
    } catch (error) {
      for (const { run } of steps) await run();
      throw error;
    }
    const { kind } = servers;
    log.info(
      { engines: kind, dataDir: resolve(values.dataDir), node: kernel.node, ms: sinceStart() },
      'ready',
    );
    await new Promise<void>(() => {
      shutdownOn({ steps, log });
    });
    return 0;

    async function remember(opening: Promise<Listening>) {
      const each = await opening;
      listening.push(each);
      return each;
    }
  },
};

const sinceStart = () => Math.round(performance.now());

interface PartContext {
  readonly kernel: Kernel;
  readonly metrics: Metrics;
  readonly logger: Log;
}

function start(
  service: Service,
  connected: RunningService,
  { kernel, metrics, logger }: PartContext,
  signal: AbortSignal,
): Part {
  const { name, projections } = service;
  const { follow, builds, checkpoints, leases, served, settled, head } = kernel;
  const common = { service: name, follow, checkpoints, leases, logger, signal };
  const reached = settled.reached;
  const reacted = (reaction: string) => metrics.reacted(reaction, 'done');
  return {
    service,
    connected,
    projector: runProjector({ ...common, projections, builds, served, reached }),
    background: [
      ...connected.reactions.map((reaction) => runReaction({ ...common, reaction, head, reacted })),
      ...connected.periodic.map((work) => runPeriodically({ ...work, leases, logger, signal })),
    ],
  };
}

/** Some events before the head are published too, so that streams can be resumed across a restart of this node. */
const RESUMABLE_EVENTS = 500;

async function startFeed(kernel: Kernel, parts: readonly Part[], logger: Log, signal: AbortSignal) {
  const { catalogs, follow, reveal, streams, vault } = kernel;
  const publishers = new Map(parts.map(({ service, connected }) => [service.name, connected.publish]));
  const feed = runFeed({
    catalogs,
    follow,
    from: (await kernel.headOf(RESUMABLE_EVENTS)) ?? 'start',
    reveal,
    streams,
    vault,
    publish: (service, event) => publishers.get(service)?.(event),
    switched: (event) => void adopt(kernel, parts, event, logger, signal),
    logger,
    signal,
  });
  await feed.ready;
  return feed;
}

/** Serves another build once it holds everything up to the event that says so. */
async function adopt(
  kernel: Kernel,
  parts: readonly Part[],
  event: RecordedEvent,
  logger: Log,
  signal: AbortSignal,
) {
  const build = event.data as unknown as ServedBuild;
  const { collection } = build;
  const projection = parts
    .flatMap(({ service }) => service.projections)
    .find(({ name, version }) => name === build.projection && version === build.version);
  const known = kernel.served.known(build.projection);
  if (!projection || (known && known.revision >= event.revision)) return;
  try {
    await built(kernel, { projection, collection, until: event.position, signal });
    kernel.served.adopt({ ...build, revision: event.revision });
  } catch (error) {
    if (!signal.aborted) logger.error({ err: error, ...build }, 'a new build was not adopted');
  }
}

async function closeAll(listening: readonly Listening[], parts: readonly Part[]) {
  for (const { connected } of parts) connected.close();
  await Promise.all(listening.map((each) => each.close()));
}

async function stopBackground(
  running: AbortController,
  parts: readonly Part[],
  feed: { readonly stopped: Promise<void> },
) {
  running.abort();
  const all = parts.flatMap(({ projector, background }) => [projector.stopped, ...background]);
  await Promise.all([feed.stopped, ...all]);
}
