/** Processor time per request and process, for several builds in alternation: `costs.js [post] [state] [single] [batch] [hit] [hits] [name=directory[,flag of node] ...]`. */
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { processorMs } from '@annals/engines/testing/process-usage.js';
import { ANNALS, type Server, startServer } from '../support/server-process.js';
import { HIT_FLAGS, hits, makeSite } from './hits.js';
import { load, makeRooms, type Person, posts, type Request, reads, roomWithMessages } from './load.js';
import { body } from './logs.js';

const FLAGS = ['--rooms-create-per-hour', '1000000', ...HIT_FLAGS];
const ROUNDS = Number(process.env.ROUNDS ?? 5);
/** Warm-up rounds that do not count, because their code is not compiled yet. */
const WARM = Number(process.env.WARM ?? 6);
const DAY = 86_400_000;

interface Work {
  /** Requests per round: enough for the process clock, which has a resolution of 10 ms. */
  readonly amount: number;
  prepare(server: Server): Promise<() => Request>;
}

let ingested = 0;
const ingest = (size: number) => async (): Promise<() => Request> => () => ({
  method: 'POST',
  path: '/api/ingest',
  body: body(ingested++ * size, size, Date.now() - DAY),
});
const collect =
  (size: number) =>
  async ({ urls }: Server): Promise<() => Request> => {
    await makeSite(urls.analytics ?? '');
    return hits(size);
  };
const rooms = new WeakMap<Server, Promise<Person>>();

const workloads: { readonly [name: string]: Work & { readonly service: string } } = {
  post: {
    service: 'rooms',
    amount: 1500,
    prepare: async ({ urls }) => posts(await makeRooms(urls.rooms ?? '', 40)),
  },
  state: {
    service: 'rooms',
    amount: 1500,
    async prepare(server) {
      if (!rooms.has(server)) rooms.set(server, roomWithMessages(server.urls.rooms ?? '', 50));
      return reads(await rooms.get(server)!);
    },
  },
  single: { service: 'logs', amount: 1500, prepare: ingest(1) },
  batch: { service: 'logs', amount: 100, prepare: ingest(100) },
  hit: { service: 'analytics', amount: 1000, prepare: collect(1) },
  hits: { service: 'analytics', amount: 100, prepare: collect(100) },
};

const PROCESSES = ['server', 'eventstore', 'mongo'] as const;

/** Processor microseconds that each process of the server has used, user and system. */
const used = ({ child, pids }: Server) =>
  [child.pid, pids.eventstore, pids.mongo].map((pid) => 1000 * processorMs(pid ?? 0));

const args = process.argv.slice(2);
const chosen = Object.keys(workloads).filter((name) => !args.some((each) => each in workloads) || args.includes(name));
const builds = args.filter((each) => each.includes('=')).map((each) => each.split(/=(.*)/, 2) as [string, string]);
const ownBuild = fileURLToPath(new URL('../../..', import.meta.url));
const directories = [];
const running: { readonly name: string; readonly server: Server }[] = [];
const costs = new Map<string, number[][]>();
try {
  for (const [name, build] of builds.length > 0 ? builds : [['here', ownBuild] as const]) {
    const [directory = '', ...flagsOfNode] = build.split(',');
    const data = temporaryDirectory();
    directories.push(data);
    const program = ANNALS.replace(ownBuild, `${directory.replace(/\/$/, '')}/`);
    const env = { NODE_OPTIONS: flagsOfNode.join(' ') };
    running.push({ name, server: await startServer(data.path, FLAGS, env, program) });
  }
  for (let round = -WARM; round < ROUNDS; round++)
    for (const name of chosen)
      for (const each of round % 2 ? [...running].reverse() : running) {
        const cost = await measure(workloads[name]!, each.server);
        if (round >= 0) costs.set(`${name} ${each.name}`, [...(costs.get(`${name} ${each.name}`) ?? []), cost]);
      }
  for (const [what, rounds] of costs)
    console.log(`${what}: ${PROCESSES.map((process, index) => `${process} ${median(rounds, index)}`).join(', ')} us`);
} finally {
  for (const { server } of running) await server.stop();
  for (const each of directories) each.remove();
}

async function measure({ service, amount, prepare }: (typeof workloads)[string], server: Server) {
  const next = await prepare(server);
  const before = used(server);
  const { done, bad } = await load(server.urls[service] ?? '', { amount }, next);
  if (bad > 0) throw new Error(`${bad} requests failed`);
  return used(server).map((after, index) => (after - before[index]!) / done);
}

function median(rounds: readonly number[][], index: number) {
  const sorted = rounds.map((each) => each[index]!).sort((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))]!);
  return `${at(0.5)} (${at(0)} to ${at(1)})`;
}
