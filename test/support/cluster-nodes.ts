/** Cluster nodes that connect over real sockets, with a membership list of the test. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { type OpenCluster, openCluster } from '../../adapters/cluster/cluster.js';
import type { Cluster, ClusterMessage, MessageHandler } from '../../application/ports/cluster.js';
import { type FakeClock, fakeClock } from './fake-clock.js';

export const KEY = randomBytes(32);

export interface Node extends OpenCluster {
  readonly mesh: Cluster;
  /** Bodies of received messages, as texts. */
  readonly received: string[];
  readonly port: number;
  /** Number of lost messages of this node. */
  lost(): number;
  connected(): number;
}

export interface NodeOptions {
  readonly onMessage?: MessageHandler;
  readonly key?: Buffer;
  readonly time?: FakeClock;
  /** Address at which the others reach it; default: where it listens. */
  readonly reached?: (port: number) => Promise<string>;
  /** Heartbeat counter of another node; by default it always increases. */
  readonly beats?: (of: string) => number;
  /** Called with each warning. */
  readonly warned?: (message: string) => void;
}

export const messageOf = (body: string, head: ClusterMessage['head'] = {}): ClusterMessage => ({ head, body });

/** Nodes are closed after each test. */
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
    /** Addresses of live nodes by run id. */
    addresses,
    /** Makes all nodes read the membership list. */
    look() {
      for (const each of looks) each();
    },
    async node(
      run: string,
      { onMessage, key = KEY, time = fakeClock(), reached, beats, warned }: NodeOptions = {},
    ): Promise<Node> {
      let beaten = 0;
      const received: string[] = [];
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
      mesh.onMessage(async (from, each) => {
        received.push(each.body);
        return (await onMessage?.(from, each)) ?? true;
      });
      const port = Number(opened.address.split(':').at(-1));
      const node = { ...opened, mesh, received, port, lost: () => lost, connected: () => connected };
      open.push(node);
      return node;
    },
  };
}
