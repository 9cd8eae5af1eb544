/** Nodes that speak with each other over real sockets, and know each other by a list that the test keeps. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { type OpenCluster, openCluster } from '../../adapters/cluster/cluster.js';
import type { Cluster, ClusterMessage, MessageHandler } from '../../application/ports/cluster.js';
import { type FakeClock, fakeClock } from './fake-clock.js';

export const KEY = randomBytes(32);

export interface Node extends OpenCluster {
  readonly mesh: Cluster;
  /** The bodies it heard, as texts. */
  readonly heard: string[];
  readonly port: number;
  /** How much of what it said was lost. */
  lost(): number;
  connected(): number;
}

export interface NodeOptions {
  readonly hear?: MessageHandler;
  readonly key?: Buffer;
  readonly time?: FakeClock;
  /** Where the others reach it, if not where it listens. */
  readonly reached?: (port: number) => Promise<string>;
  /** How often another one has said that it lives; all do so all the time, unless given. */
  readonly beats?: (of: string) => number;
  /** Told of each warning. */
  readonly warned?: (message: string) => void;
}

export const said = (body: string, head: ClusterMessage['head'] = {}): ClusterMessage => ({ head, body });

/** Closed after each test. */
export function useMesh() {
  const open: Node[] = [];
  const addresses = new Map<string, string>();
  const looks: (() => void)[] = [];
  const blind = new Map<string, () => readonly string[]>();
  afterEach(async () => {
    await Promise.all(open.splice(0).map(({ close }) => close()));
    addresses.clear();
    looks.length = 0;
    blind.clear();
  });

  return {
    /** Who is there, and where. */
    addresses,
    /** Everybody looks who is there. */
    look() {
      for (const each of looks) each();
    },
    async node(
      run: string,
      { hear, key = KEY, time = fakeClock(), reached, beats, warned }: NodeOptions = {},
    ): Promise<Node> {
      let beaten = 0;
      const heard: string[] = [];
      let [lost, connected] = [0, 0];
      const opened = await openCluster({
        run,
        key,
        host: '127.0.0.1',
        port: 0,
        async join(address, looked, unreached) {
          const port = Number(address.split(':').at(-1));
          addresses.set(run, (await reached?.(port)) ?? address);
          looks.push(looked);
          blind.set(run, unreached);
          return {
            address: (of) => addresses.get(of),
            beats: beats ?? (() => ++beaten),
            liveNodes: () => new Set(addresses.keys()),
            unreachedBy: () => [...blind].flatMap(([by, those]) => (those().includes(run) ? [by] : [])),
            look: async () => looked(),
            async leave() {
              addresses.delete(run);
            },
          };
        },
        observe: {
          connected: (total) => {
            connected = total;
          },
          messageSent() {},
          messageLost: () => void lost++,
        },
        logger: { ...silentLogger, warn: (_: object, message: string) => warned?.(message) },
        after: time.after,
      });
      const mesh = opened.channel('toy');
      mesh.hear(async (from, each) => {
        heard.push(each.body);
        return (await hear?.(from, each)) ?? true;
      });
      const port = Number(opened.address.split(':').at(-1));
      const node = { ...opened, mesh, heard, port, lost: () => lost, connected: () => connected };
      open.push(node);
      return node;
    },
  };
}
