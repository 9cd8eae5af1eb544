/** Runs this process as a node: services, projectors, reactions and the operations port. */
import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import { tuneNextTick } from '@annals/engines';
import {
  type ConnectionLimit,
  createConnectionLimit,
  maxConnections,
} from '../../adapters/http/hardening/connection-limits.js';
import { createNodeStatus } from '../../adapters/http/node-status.js';
import { operationsPolicy, operationsRoutes, operationsSignIn } from '../../adapters/http/operations.js';
import { recentErrorsRoute } from '../../adapters/http/recent-errors.js';
import { createBudgets } from '../../adapters/http/server/budgets.js';
import {
  createClientAddress,
  createProxyCheck,
  directNetworkOf,
  networkOf,
} from '../../adapters/http/server/client-network.js';
import { type ListenOptions, listen } from '../../adapters/http/server/http-server.js';
import { auditRoutes } from '../../adapters/http/transparency-log.js';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { startLogger } from '../../adapters/platform/observability/logger.js';
import { createMetrics, type Metrics } from '../../adapters/platform/observability/metrics.js';
import { reportOutages } from '../../adapters/platform/observability/outages.js';
import type { RecentErrors } from '../../adapters/platform/observability/recent-errors.js';
import { createServiceUrl } from '../../adapters/platform/process/format-url.js';
import type { Step } from '../../adapters/platform/process/shutdown.js';
import { RING_BYTES } from '../../adapters/realtime/relay/client-stream.js';
import { createBudget } from '../../application/concurrency/index.js';
import type { Logger, Position } from '../../application/ports/index.js';
import { runLiveFeed, runPeriodically, runReaction } from '../../application/subscription/index.js';
import {
  createBuildSwitch,
  groupsOf,
  type Progress,
  type ReadModel,
  runProjector,
} from '../../projections/kernel/index.js';
import type { AnnalsValues } from '../settings.js';
import { auditPorts, runTransparencyLog } from './audit.js';
import { createNodeCluster } from './cluster.js';
import { consolePage, consoleRoutes } from './console.js';
import { createKernel, type Kernel } from './kernel.js';
import { nodeName, type Servers } from './locate-servers.js';
import { createRelays } from './relays.js';
import { release } from './release.js';
import { readWindows } from './resume-windows.js';
import { scheduledBackups } from './scheduled-backups.js';
import { secretSource } from './secret.js';
import type { RunningService, Service, ServiceContext } from './service.js';
import type { Listener } from './start-table.js';
import { createTracing, openTracer, type Tracing } from './traced.js';

/**
 * Connects everything and listens; resolves with the ports once the node is ready.
 *
 * @param onOpen Called in order for each resource with the function that closes it, also when a later one fails.
 */
export async function runNode(
  services: readonly Service[],
  values: AnnalsValues,
  servers: Servers,
  processLogger: Logger,
  onOpen: (name: string, close: Step['run']) => void,
  recentErrors?: RecentErrors,
): Promise<readonly Listener[]> {
  tuneNextTick();
  const metrics = createMetrics();
  const projections = services.flatMap((service) => service.projections);
  const logger: Logger = reportOutages(processLogger, {
    'the event store': async () => {
      await kernel.head();
      await kernel.log.writable();
    },
    MongoDB: async () => kernel.mongo.writable(),
  });
  const tracer = await openTracer(values, processLogger);
  if (tracer) onOpen('traces', tracer.close);
  const tracing = createTracing(tracer);
  const kernel: Kernel = await createKernel({
    ...servers,
    mongoDatabase: values['mongo.database'],
    secret: (keys) => secretSource(values, servers, keys),
    node: nodeName(values.dataDir),
    release,
    catalogs: services.map(({ catalog }) => catalog),
    projections,
    logger,
    metrics,
    tracing,
  });
  onOpen('drivers', kernel.close);
  if (servers.kind === 'given' && !values.secret) logger.warn({}, NO_SECRET);
  for (const cache of [...kernel.aggregates.caches, ...kernel.vault.caches]) metrics.cache(cache);

  const running = new AbortController();
  // All background work listens to it: more listeners than Node's leak warning allows.
  setMaxListeners(0, running.signal);
  const { signal } = running;
  const onProgress = ({ events }: Progress) => logger.info({ events }, 'building a read model');
  const onAhead = ({ name }: ReadModel) => logger.warn({ projection: name }, AHEAD);
  metrics.clock(kernel.clock.skewMs);
  if (recentErrors) metrics.errors(recentErrors.errorCount);
  if (servers.damagedEvents) metrics.damaged(servers.damagedEvents);
  if (servers.memory) metrics.engines(servers.memory);
  // Read before the active builds, so that the feed delivers every switch after them.
  const startHead = await kernel.head();
  // Before anything is written: otherwise new events could hide that a restored log is behind its read models.
  await kernel.lifecycle.ensureActive(projections, kernel.served, { signal, onProgress, onAhead });
  // Before any event gets a timestamp. Irreversible work compares the clocks again.
  await kernel.clock.compare().catch((err) => logger.warn({ err }, "the event store's clock could not be read"));
  const context = { kernel, values, release, metrics, logger, signal };
  const windows = await readWindows(kernel, services, startHead);
  const relays = createRelays({ kernel, metrics, windows, logger, signal });
  const startDetails = startLogger(logger, values['log.format']);
  const cluster = createNodeCluster({ kernel, values, metrics, logger: startDetails });
  onOpen('mesh', cluster.close);
  const urls = new Map(services.map(({ name, port }) => [name, createServiceUrl(values.host, port(values))]));
  const connecting = services.map(async (service) => {
    const { horizon } = windows.get(service.name)!;
    const { url } = urls.get(service.name)!;
    const relay: ServiceContext['relay'] = (...options) => relays.create(service.name, ...options);
    const openCluster = () => cluster.channel(service.name);
    return { service, connected: await service.connect({ ...context, horizon, url, relay, openCluster }) };
  });
  const connected = await Promise.all(connecting);
  const parts = connected.map(({ service, connected }) => start(service, connected, context, startHead, tracing));
  for (const { service, connected } of parts)
    metrics.cache({ name: `${service.name}.relay`, limitBytes: RING_BYTES, bytes: connected.bufferedBytes });
  const feed = runLiveFeed({
    ...kernel,
    windows,
    begun: startHead,
    saved: kernel.windows,
    subscriptions: new Map(
      parts.map(({ service, connected }) => [service.name, tracing.handlers(connected.handlers, startHead)]),
    ),
    preparations: new Map(
      parts.flatMap(({ service, connected: { prepare } }) => (prepare ? [[service.name, prepare]] : [])),
    ),
    switched: createBuildSwitch(kernel, projections, logger, signal),
    logger,
    signal,
  });
  const backups = scheduledBackups(values, logger);
  const { leases } = kernel;
  const subscriptions = [
    feed.stopped,
    ...relays.saveSnapshots(feed),
    ...(backups ? [runPeriodically({ ...backups, leases, logger, signal })] : []),
    ...(values['audit.enabled'] ? [runTransparencyLog(kernel, values, logger, signal)] : []),
  ];
  onOpen('background', () => stopBackground(running, parts, subscriptions));
  // From here on reads on this node include everything the log held before its start.
  for (const [service, last] of await feed.ready) kernel.projectionProgress.startedAt(service, last);
  for (const { connected } of parts) await connected.start?.();

  const proxies = values['server.trustedProxies'];
  const http = {
    host: values.host,
    derivation: kernel.derivation,
    logger,
    onResponse: metrics.answered,
    clientAddress: createClientAddress(proxies, () => logger.warn({}, UNTRUSTED_PROXY)),
  };
  const listeners: Listener[] = [];
  const closers: Step['run'][] = [];
  // In parallel: closing one port may wait for its pending responses.
  onOpen('connections', () => closeAll(closers));
  const open = async ({ policy, routes, signIn, signInSummary = signIn }: Port, port: number, shared: Shared = {}) => {
    const { service } = policy;
    const { url, close } = await listen(policy, routes, { ...http, port, ...shared });
    urls.get(service)?.listensOn(url);
    listeners.push({ service, url, signIn: signInSummary });
    closers.unshift(close);
    startDetails.info({ service, url, signIn }, `${service} on ${url}`);
  };
  const shared = sharedLimits(values['server.connections'], createProxyCheck(proxies), metrics);
  for (const { service, connected } of parts) {
    await open(connected, service.port(values), { ...shared, tracer });
    closers.unshift(connected.close);
  }
  const policy = operationsPolicy(release);
  const groups = parts.flatMap(({ projectors }) => projectors);
  const { unreachedBy } = cluster;
  const status = createNodeStatus({ kernel, groups, feed, damaged: servers.damagedEvents, unreachedBy });
  const access = { host: values.host, token: values['operations.token'] };
  const consolePorts = { kernel, services, values, servers, metrics, urls, nodes: cluster.nodes, logger, signal };
  const more = [...auditRoutes(auditPorts(kernel, values, logger)), ...consoleRoutes(consolePorts)];
  if (recentErrors) more.push(recentErrorsRoute(recentErrors));
  const routes = operationsRoutes(policy, status, metrics, access, more, consolePage());
  const operations = { policy, routes, signIn: operationsSignIn(access) };
  const connections = operationsConnections(policy.service, metrics);
  await open(operations, values['operations.port'], { connections });
  const details = { engines: servers.kind, ...configuredServers(values), dataDir: resolve(values.dataDir) };
  startDetails.info({ ...details, node: kernel.node, ms: Math.round(performance.now()) }, 'ready');
  return listeners;
}

/** Starts all in their order; settles when all have, and rejects if one did. */
async function closeAll(closers: readonly Step['run'][]): Promise<void> {
  const results = await Promise.allSettled(closers.map(async (close) => close()));
  const failures = results.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '));
}

/** Limits that the ports of all services share. */
type Shared = Pick<ListenOptions, 'connections' | 'budgets' | 'tracer'>;

/** Connections of a trusted proxy carry many callers: they count per request, by the forwarded address. */
function sharedLimits(limit: number, isProxy: (address: string) => boolean, metrics: Metrics): Shared {
  const connections = createBudget('connections', maxConnections(limit));
  const budgets = createBudgets(connections.limit);
  for (const budget of [connections, ...Object.values(budgets)]) metrics.budget(budget);
  return {
    connections: createConnectionLimit(connections, directNetworkOf(isProxy)),
    budgets,
  };
}

/** A limit of its own, so that the operations port answers however many clients the services have. */
function operationsConnections(name: string, metrics: Metrics): ConnectionLimit {
  const connections = createBudget(name, OPERATIONS_CONNECTIONS);
  metrics.budget(connections);
  return createConnectionLimit(connections, networkOf);
}

/** Taken from the file descriptors that the connection limit reserves for the process itself. */
const OPERATIONS_CONNECTIONS = 100;

type Port = Pick<RunningService, 'policy' | 'routes' | 'signIn' | 'signInSummary'>;

/** The addresses of servers that this program did not start, without credentials. */
function configuredServers({ 'eventStore.url': eventStore, 'mongo.url': mongo }: AnnalsValues) {
  if (!eventStore || !mongo) return {};
  return { eventStore: maskCredentials(eventStore), mongo: maskCredentials(mongo) };
}

const UNTRUSTED_PROXY =
  'a proxy on this machine sends forwarded addresses but is not trusted, so all its clients share one rate limit; add it to server.trustedProxies';

const NO_SECRET =
  'secret is not set, so the wrapping secret is stored next to the keys it wraps; set the same secret on all nodes and run annals keys rotate';

const AHEAD =
  'the read model is or may be ahead of the log, as after restoring a backup of the log; rebuilding it before it is served';

type Part = ReturnType<typeof start>;

/** @param begun Head of the log at the start of this node. */
function start(
  service: Service,
  connected: RunningService,
  { kernel, metrics, logger, signal }: Pick<ServiceContext, 'kernel' | 'metrics' | 'logger' | 'signal'>,
  begun: Position,
  tracing: Tracing,
) {
  const { name, projections } = service;
  const builds = tracing.builds(kernel.builds);
  const { follow, checkpoints, leases, served, projectionProgress, head } = kernel;
  const common = { service: name, follow, checkpoints, leases, logger, signal };
  const { advanced, debounceUntilAwaited } = projectionProgress;
  return {
    service,
    connected,
    projectors: groupsOf(name, projections).map((group) => ({
      ...group,
      projector: runProjector({ ...common, group, builds, served, head, advanced, debounceUntilAwaited }),
    })),
    /** Reactions and periodic jobs; settle after abort. */
    background: [
      ...tracing
        .reactions(connected.reactions)
        .map((reaction) => runReaction({ ...common, reaction, head, begun, reacted: metrics.reacted })),
      ...connected.periodic.map((work) => runPeriodically({ ...work, leases, logger, signal })),
    ],
  };
}

async function stopBackground(
  running: AbortController,
  parts: readonly Part[],
  subscriptions: readonly Promise<void>[],
) {
  running.abort();
  const work = parts.flatMap(({ projectors, background }) => [
    ...projectors.map(({ projector }) => projector.stopped),
    ...background,
  ]);
  await Promise.all([...subscriptions, ...work]);
}
