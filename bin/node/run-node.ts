/** Runs services, read models, reactions and the operations port: this process as one node of one or many. */
import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import { keepTicksQuick } from '@annals/engines';
import {
  type ConnectionLimit,
  createConnectionLimit,
  mostConnections,
} from '../../adapters/http/hardening/connection-limit.js';
import { operationsPolicy, operationsRoutes, operationsSignIn } from '../../adapters/http/operations.js';
import { createBudgets } from '../../adapters/http/server/budgets.js';
import { type ListenOptions, listen } from '../../adapters/http/server/http-server.js';
import { createClientAddress, isTrustedBy, networkOf } from '../../adapters/platform/config/client-address.js';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { createMetrics, type Metrics } from '../../adapters/platform/observability/metrics.js';
import { reportOutages } from '../../adapters/platform/observability/outages.js';
import { urlOf } from '../../adapters/platform/process/format-url.js';
import type { Step } from '../../adapters/platform/process/shutdown.js';
import { RING_BYTES } from '../../adapters/realtime/relay/ring.js';
import { createBudget } from '../../application/concurrency/index.js';
import type { Logger, Position } from '../../application/ports/index.js';
import {
  type Feed,
  readWindow,
  runLiveFeed,
  runPeriodically,
  runReaction,
  type WindowStart,
} from '../../application/subscription/index.js';
import { groupsOf, type Progress, type ReadModel, runProjector } from '../../projections/kernel/index.js';
import type { AnnalsValues } from '../settings.js';
import { createMeshing } from './cluster.js';
import { createKernel, type Kernel } from './kernel.js';
import { nodeName, type Servers } from './locate-servers.js';
import { createRelays } from './relays.js';
import { release } from './release.js';
import { secretSource } from './secret.js';
import type { Part, RunningService, Service, ServiceContext } from './service.js';
import { statusOf } from './status.js';
import { adopt } from './switch-build.js';

/**
 * Connects everything and listens; resolves when it is ready. `opened` is told how to close each thing that was
 * opened, in order, also when a later one fails.
 */
export async function begin(
  chosen: readonly Service[],
  values: AnnalsValues,
  servers: Servers,
  processLogger: Logger,
  opened: (name: string, close: Step['run']) => void,
): Promise<void> {
  keepTicksQuick();
  const metrics = createMetrics();
  const projections = chosen.flatMap((service) => service.projections);
  const logger: Logger = reportOutages(processLogger, {
    'the event store': async () => {
      await kernel.head();
      await kernel.log.writable();
    },
    MongoDB: async () => kernel.mongo.writable(),
  });
  const kernel: Kernel = await createKernel({
    ...servers,
    mongoDatabase: values['mongo.database'],
    secret: (keys) => secretSource(values, servers, keys),
    node: nodeName(values.dataDir),
    release,
    catalogs: chosen.map(({ catalog }) => catalog),
    projections,
    logger,
    onAppended: metrics.appended,
    onConflict: metrics.conflicted,
    onUnopened: metrics.unopened,
  });
  opened('drivers', kernel.close);
  if (servers.kind === 'given' && !values.secret) logger.warn({}, NO_SECRET);
  for (const cache of [...kernel.streams.caches, ...kernel.vault.caches]) metrics.cache(cache);

  const running = new AbortController();
  // Everything in the background waits on it at once: more than Node takes for a leak.
  setMaxListeners(0, running.signal);
  const { signal } = running;
  const onProgress = ({ events }: Progress) => logger.info({ events }, 'building a read model');
  const onAhead = ({ name }: ReadModel) => logger.warn({ projection: name }, AHEAD);
  metrics.clock(kernel.clock.skewMs);
  if (servers.damaged) metrics.damaged(servers.damaged);
  if (servers.memory) metrics.engines(servers.memory);
  // First: the feed has to tell of every switch that comes after what is learned now of what is served.
  const begun = await kernel.head();
  // Before anything is written: a log that was restored may lack no more than that.
  await kernel.lifecycle.ensureActive(projections, kernel.served, { signal, onProgress, onAhead });
  // Before anything is stamped with a time. Whatever can't be undone asks again.
  await kernel.clock.compare().catch((err) => logger.warn({ err }, 'the event store did not say what time it is'));
  const context = { kernel, values, release, metrics, logger, signal, begun };
  const windows = await readWindows(kernel, chosen, begun);
  const relays = createRelays({ kernel, metrics, windows, logger, signal });
  const meshing = createMeshing({ kernel, values, metrics, logger });
  opened('mesh', meshing.close);
  const urls = new Map<string, string>();
  const connecting = chosen.map(async (service) => {
    const { horizon } = windows.get(service.name)!;
    const url = () => urls.get(service.name) ?? urlOf(values.host, service.port(values));
    const relay: ServiceContext['relay'] = (...of) => relays.make(service.name, ...of);
    const mesh = () => meshing.channel(service.name);
    return { service, connected: await service.connect({ ...context, horizon, url, relay, mesh }) };
  });
  const connected = await Promise.all(connecting);
  const parts = connected.map(({ service, connected }) => start(service, connected, context, signal));
  for (const { service, connected } of parts)
    metrics.cache({ name: `${service.name}.relay`, limitBytes: RING_BYTES, bytes: connected.kept });
  const feed = startFeed(kernel, parts, windows, begun, logger, signal);
  const following = [feed.stopped, ...relays.keep(feed)];
  opened('background', () => stopBackground(running, parts, following));
  // From here on this node's readers are owed whatever was in the log before.
  for (const [service, last] of await feed.ready) kernel.settled.startedAt(service, last);
  for (const { connected } of parts) await connected.start?.();

  const proxies = values['server.trustedProxies'];
  const http = {
    host: values.host,
    derivation: kernel.derivation,
    logger,
    answered: metrics.answered,
    clientAddress: createClientAddress(proxies, () => logger.warn({}, DOUBTED_PROXY)),
  };
  const doors: Step['run'][] = [];
  // All at once: none has to wait until another has answered what is under way there.
  opened('connections', () => allOf(doors));
  const open = async ({ policy, routes, signIn }: Door, port: number, common: Common = {}) => {
    const { url, close } = await listen(policy, routes, { ...http, port, ...common });
    urls.set(policy.service, url);
    doors.unshift(close);
    logger.info({ service: policy.service, url, signIn }, `${policy.service} on ${url}`);
  };
  const common = shared(values['server.connections'], isTrustedBy(proxies), metrics);
  for (const { service, connected } of parts) {
    await open(connected, service.port(values), common);
    doors.unshift(connected.close);
  }
  const policy = operationsPolicy(release);
  const status = statusOf(kernel, parts, feed, servers.damaged, meshing.unreachedBy);
  const access = { host: values.host, token: values['operations.token'] };
  const routes = operationsRoutes(policy, status, metrics, access);
  const door = { policy, routes, signIn: operationsSignIn(access) };
  await open(door, values['operations.port'], { connections: fewFor(policy.service, metrics) });
  const [engines, dataDir] = [servers.kind, resolve(values.dataDir)];
  logger.info({ engines, ...given(values), dataDir, node: kernel.node, ms: sinceStart() }, 'ready');
}

/** Begins all in their order; settles when all have, and rejects if one did. */
async function allOf(steps: readonly Step['run'][]): Promise<void> {
  const ended = await Promise.allSettled(steps.map(async (run) => run()));
  const failed = ended.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join('; '));
}

/** What the ports of all services have in common. */
type Common = Pick<ListenOptions, 'connections' | 'budgets'>;

/** A proxy's connections are of many callers: they have no share, what is asked through them has that of who asks. */
function shared(wanted: number, isProxy: (address: string) => boolean, metrics: Metrics): Common {
  const connections = createBudget('connections', mostConnections(wanted));
  const budgets = createBudgets(connections.limit);
  for (const budget of [connections, ...Object.values(budgets)]) metrics.budget(budget);
  return {
    connections: createConnectionLimit(connections, (address) => (isProxy(address) ? undefined : networkOf(address))),
    budgets,
  };
}

/** The operations port must answer however many clients the others have, and those who crowd at it keep out nobody. */
function fewFor(name: string, metrics: Metrics): ConnectionLimit {
  const connections = createBudget(name, OPERATIONS_CONNECTIONS);
  metrics.budget(connections);
  return createConnectionLimit(connections, networkOf);
}

/** Of the files that are kept for the process's own use, so many are for whoever watches it. */
const OPERATIONS_CONNECTIONS = 100;

type Door = Pick<RunningService, 'policy' | 'routes' | 'signIn'>;

/** The addresses of servers that are not ours to start. */
function given({ 'eventStore.url': eventStore, 'mongo.url': mongo }: AnnalsValues) {
  if (!eventStore || !mongo) return {};
  return { eventStore: maskCredentials(eventStore), mongo: maskCredentials(mongo) };
}

const DOUBTED_PROXY =
  'a proxy on this machine says for whom it asks, and is not believed: all who come through it count as one, until it is in server.trustedProxies';

const NO_SECRET =
  'secret is not set: it is kept beside the keys that it wraps; set it, the same on all nodes, and run annals keys rotate';

const AHEAD =
  'the read model is ahead of the log, or may be, as after a backup of the log was restored: building it anew before it is served';

const sinceStart = () => Math.round(performance.now());

interface PartContext {
  readonly kernel: Kernel;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Where the log ended before anybody was served. */
  readonly begun: Position;
}

function start(
  service: Service,
  connected: RunningService,
  { kernel, metrics, logger, begun }: PartContext,
  signal: AbortSignal,
): Part {
  const { name, projections } = service;
  const { follow, builds, checkpoints, leases, served, settled, head } = kernel;
  const common = { service: name, follow, checkpoints, leases, logger, signal };
  const { advanced, debounceUntilAwaited } = settled;
  const reacted = (reaction: string) => metrics.reacted(reaction, 'done');
  return {
    service,
    connected,
    projectors: groupsOf(name, projections).map((group) => ({
      ...group,
      projector: runProjector({
        ...common,
        group,
        builds,
        served,
        head,
        advanced: advanced,
        debounceUntilAwaited: debounceUntilAwaited,
      }),
    })),
    background: [
      ...connected.reactions.map((reaction) => runReaction({ ...common, reaction, head, begun, reacted })),
      ...connected.periodic.map((work) => runPeriodically({ ...work, leases, logger, signal })),
    ],
  };
}

/** Where the streams of each service can be resumed from, as the last node left it. */
async function readWindows(
  kernel: Kernel,
  chosen: readonly Service[],
  head: Position,
): Promise<Map<string, WindowStart>> {
  const found = chosen.map(async ({ name, projections }) => {
    const projected = await projectedOf(kernel, projections);
    return [name, await readWindow(kernel.windows, name, head, projected)] as const;
  });
  return new Map(await Promise.all(found));
}

/** How far all of these are by their checkpoints; undefined while one of them has none: it shows nothing yet. */
async function projectedOf({ checkpoints, served }: Kernel, projections: readonly ReadModel[]) {
  const read = projections.map(({ name }) => checkpoints.read(served.collection(name) ?? ''));
  const known = (await Promise.all(read)).filter((each) => each !== undefined);
  const [least] = known.length < read.length ? [] : known.sort((a, b) => (a < b ? -1 : 1));
  return least;
}

function startFeed(
  kernel: Kernel,
  parts: readonly Part[],
  windows: ReadonlyMap<string, WindowStart>,
  begun: Position,
  logger: Logger,
  signal: AbortSignal,
): Feed {
  const { catalogs, windows: saved, follow, reveal, revealLive, streams, vault } = kernel;
  const projections = parts.flatMap(({ service }) => service.projections);
  const publishers = new Map(parts.map(({ service, connected }) => [service.name, connected.publish]));
  return runLiveFeed({
    catalogs,
    windows,
    begun,
    saved,
    follow,
    reveal,
    revealLive,
    streams,
    vault,
    publish: (service, event) => publishers.get(service)?.(event),
    switched: (event) => void adopt(kernel, projections, event, logger, signal),
    logger,
    signal,
  });
}

async function stopBackground(running: AbortController, parts: readonly Part[], following: readonly Promise<void>[]) {
  running.abort();
  const all = parts.flatMap(({ projectors, background }) => [
    ...projectors.map(({ projector }) => projector.stopped),
    ...background,
  ]);
  await Promise.all([...following, ...all]);
}
