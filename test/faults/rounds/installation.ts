/** Three nodes on stores behind proxies, and the ways in which they fail. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Engines, startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { type Server, startServer } from '../../support/server-process.js';
import { startProxy, type TcpProxy } from '../../support/tcp-proxy.js';

export interface Stores {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
}

export interface Installation {
  /** URL of a service on a node that runs, chosen at random; undefined while none runs. */
  url(service: string): string | undefined;
  /** URLs of a service on all nodes that run. */
  urls(service: string): readonly string[];
  readonly size: number;
  /** Starts a node unless it runs. `ahead`: error of its clock in ms. */
  start(node: number, ahead?: number): Promise<void>;
  /** Kills or stops a node and waits for its end, or sends it another signal. */
  signal(node: number, signal: NodeJS.Signals): Promise<void>;
  /** Sends a signal to an engine, which its supervisor starts again if it ends. */
  signalEngine(engine: EngineName, signal: NodeJS.Signals): void;
  /** Cuts a node off both stores, or lets it back. */
  cut(node: number, isCut: boolean): void;
  /** Bounds the files of both engines to their present size, or lifts that. */
  fillDisk(isFull: boolean): void;
  /** Flags that give a command the addresses of the stores. */
  readonly storeFlags: readonly string[];
  stop(): Promise<void>;
}

export const engineNames = ['eventstore', 'mongo'] as const;
export type EngineName = (typeof engineNames)[number];

const FLAGS = [
  ...['--secret', 'a secret that all of the nodes have got', '--analytics-admin-token', 'an-admin-token-for-tests'],
  ...['--auth-is-invite-required', 'false', '--auth-max-active-sessions', '100', '--rooms-create-per-hour', '1000000'],
  ...['--meeting-connect-per-minute', '1000000', '--meeting-create-per-minute', '1000000'],
];

/** Starts the nodes with these flags or services; without given stores on engines of its own. */
export async function startInstallation(
  size: number,
  given?: Stores,
  flags: readonly string[] = [],
): Promise<Installation> {
  const directories = Array.from({ length: size }, () => temporaryDirectory());
  const enginesDirectory = temporaryDirectory();
  const enginePids: { [engine: string]: number } = {};
  const engines = given ? undefined : await startOwnEngines(enginesDirectory.path, enginePids);
  const stores: Stores = given ?? engines!;
  const database = given ? `faults_${randomUUID().slice(0, 8)}` : 'annals';
  const proxies = given ? [] : await Promise.all(directories.map(() => startProxies(stores)));
  const nodes: (Server | undefined)[] = directories.map(() => undefined);
  const shared = [...FLAGS, ...flags, '--mongo-database', database];

  const flagsOf = ({ eventStoreUrl, mongoUrl }: Stores) => [
    ...['--event-store-url', eventStoreUrl, '--mongo-url', mongoUrl],
    ...shared,
  ];
  const running = () => nodes.filter((node) => node !== undefined);
  const installation: Installation = {
    size,
    storeFlags: [
      ...['--event-store-url', stores.eventStoreUrl, '--mongo-url', stores.mongoUrl],
      ...['--mongo-database', database, '--secret', FLAGS[1]!],
    ],
    url: (service) => running()[Math.floor(Math.random() * running().length)]?.urls[service],
    urls: (service) => running().map(({ urls }) => urls[service]!),
    async start(node, ahead = 0) {
      if (nodes[node]) return;
      const directory = directories[node]!.path;
      const env = ahead === 0 ? {} : { NODE_OPTIONS: `--import=${clockShift(directory, ahead)}` };
      nodes[node] = await startServer(directory, flagsOf(proxies[node]?.stores ?? stores), env);
    },
    async signal(node, signal) {
      const server = nodes[node];
      if (signal !== 'SIGKILL' && signal !== 'SIGTERM') return void server?.child.kill(signal);
      nodes[node] = undefined;
      await server?.stop(signal);
    },
    signalEngine: (engine, signal) => process.kill(enginePids[engine]!, signal),
    cut(node, isCut) {
      for (const proxy of proxies[node]?.both ?? []) isCut ? proxy.interrupt() : proxy.restore();
    },
    fillDisk(isFull) {
      const log = join(enginesDirectory.path, 'eventstore/log/data.mdb');
      const limit = isFull ? String(statSync(log).size + 65_536) : 'unlimited';
      for (const pid of Object.values(enginePids))
        execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}:`], { stdio: 'ignore' });
    },
    async stop() {
      await Promise.all(nodes.map((node) => node?.stop('SIGKILL')));
      await Promise.all(proxies.flatMap(({ both }) => both.map((proxy) => proxy.close())));
      await engines?.stop();
      for (const { remove } of [...directories, enginesDirectory]) remove();
    },
  };
  try {
    await Promise.all(directories.map((_, node) => installation.start(node)));
    return installation;
  } catch (error) {
    await installation.stop();
    throw error;
  }
}

/** Records the process id of each engine, also of those started after a crash. */
function startOwnEngines(dataDir: string, pids: { [engine: string]: number }): Promise<Engines> {
  const ignore = () => {};
  const record = ({ engine, pid }: { engine?: string; pid?: number }) => {
    if (engine && pid) pids[engine] = pid;
  };
  return startEngines({ dataDir, logger: { debug: ignore, info: record, warn: record, error: ignore } });
}

async function startProxies({ eventStoreUrl, mongoUrl }: Stores) {
  const [log, models] = await Promise.all([startProxy(eventStoreUrl), startProxy(mongoUrl)]);
  // Otherwise the driver would ask the server for the members of its set and connect to those.
  const direct = models.url.replace(/replicaSet=\w+/, 'directConnection=true');
  const both: readonly TcpProxy[] = [log, models];
  return { both, stores: { eventStoreUrl: log.url, mongoUrl: direct } };
}

/** Writes a module that sets the clock of a process, and returns its URL. */
function clockShift(directory: string, ms: number): string {
  const path = join(directory, 'clock.mjs');
  writeFileSync(path, `const { now } = Date; Date.now = () => now() + ${ms};\n`);
  return String(pathToFileURL(path));
}
