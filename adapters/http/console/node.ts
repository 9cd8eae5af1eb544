/** Routes that describe this node: services, nodes, engines, disk, leases, and its activity in the last hour. */
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { withDeadline } from '../../../application/concurrency/index.js';
import { type ActivitySlice, SLICE_MS } from '../../platform/observability/activity.js';
import type { Route } from '../server/route.js';
import { activityHistory, leaseList, nodeDescription } from './schemas.js';

export interface NodeRouteDeps {
  readonly node: string;
  readonly release: string;
  readonly services: () => readonly { readonly name: string; readonly url: string }[];
  /** Names of the nodes that this one is connected to. */
  readonly nodes: () => Iterable<string>;
  /** Which servers hold the data, for people. */
  readonly stores: string;
  /** Memory of each engine that this process runs, in bytes. */
  readonly memory: () => ReadonlyMap<string, number>;
  /** Directory of the engines' data; undefined on other servers. */
  readonly directory: string | undefined;
  readonly eventTypes: ReadonlyMap<string, readonly string[]>;
  readonly holders: () => Promise<ReadonlyMap<string, string>>;
  readonly activity: () => readonly ActivitySlice[];
}

/** How long a disk may take to answer, ms. */
const DISK_MS = 2000;

export function nodeRoutes(deps: NodeRouteDeps): readonly Route[] {
  const { node, release, services, nodes, stores, memory, directory, eventTypes, holders, activity } = deps;
  return [
    {
      method: 'GET',
      path: '/node',
      summary: 'This node, its services, the nodes it knows, and its engines',
      answers: { 200: { description: 'The node', schema: nodeDescription } },
      async handle() {
        const body = {
          node,
          release,
          uptimeSec: Math.floor(process.uptime()),
          services: services(),
          nodes: [...new Set([node, ...nodes()])],
          stores,
          engines: await enginesOf(memory(), directory),
          disk: directory && (await diskOf(directory)),
          eventTypes: Object.fromEntries(eventTypes),
        };
        return { status: 200, body };
      },
    },
    {
      method: 'GET',
      path: '/leases',
      summary: 'Which node holds which lease',
      answers: { 200: { description: 'Leases that are held', schema: leaseList } },
      async handle() {
        const leases = Array.from(await holders(), ([name, owner]) => ({ name, owner }));
        return { status: 200, body: { leases: leases.sort((a, b) => (a.name < b.name ? -1 : 1)) } };
      },
    },
    {
      method: 'GET',
      path: '/activity',
      summary: 'Requests, latency and events of this node in the last hour',
      answers: { 200: { description: 'Slices of time, the oldest first', schema: activityHistory } },
      handle() {
        const slices = activity().map(({ at, ...slice }) => ({ at: new Date(at).toISOString(), ...slice }));
        return { status: 200, body: { sliceMs: SLICE_MS, slices } };
      },
    },
  ];
}

/** Folders of the engines' data, by the names of the engines. */
const FOLDERS = { eventstore: join('eventstore', 'log'), mongo: 'mongo' };

const enginesOf = (memory: ReadonlyMap<string, number>, directory: string | undefined) =>
  Promise.all(
    Object.entries(directory ? FOLDERS : {}).map(async ([name, folder]) => {
      return { name, memory: memory.get(name), disk: await answered(bytesIn(join(directory!, folder))) };
    }),
  );

/** Bytes that the files of a folder take on the disk, which is less than their size if they have holes. */
async function bytesIn(folder: string): Promise<number> {
  const stats = (await readdir(folder)).map((name) => stat(join(folder, name)).catch(() => undefined));
  return (await Promise.all(stats)).reduce((sum, each) => sum + (each ? each.blocks * 512 : 0), 0);
}

async function diskOf(directory: string) {
  const found = await answered(statfs(directory));
  return found && { free: found.bavail * found.bsize, size: found.blocks * found.bsize };
}

const answered = <T>(call: Promise<T>) => withDeadline(DISK_MS, call, 'the disk').catch(() => undefined);
