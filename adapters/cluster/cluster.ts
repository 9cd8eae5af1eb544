/** Connects every node of an installation to every other, for messages not in the event log (docs/guide/cluster.md). */
import { type After, systemTimer } from '../../application/concurrency/index.js';
import type { Cluster, Logger, Members, MessageHandler } from '../../application/ports/index.js';
import { openListener } from './listener.js';
import { createPeerConnection, type PeerConnection } from './peer-connection.js';

export interface ClusterOptions {
  /** Identifies this process; a new id at every start. */
  readonly run: string;
  /** Pre-shared key that only nodes of this installation can derive; 32 bytes. */
  readonly key: Buffer;
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Address that other nodes connect to, if it differs from `host`: a host, or `host:port`. */
  readonly address?: string | undefined;
  /** Publishes the address of this node. `onRefresh` must be called after every refresh of the member list. */
  readonly join: (
    address: string,
    onRefresh: () => void,
    /** Live nodes this one cannot connect to, for publication to the other nodes. */
    unreached: () => readonly string[],
  ) => Promise<Members & { leave(): Promise<void> }>;
  readonly observe?: ClusterObserver | undefined;
  readonly logger: Logger;
  readonly after?: After;
}

export interface ClusterObserver {
  connected(total: number): void;
  messageSent(): void;
  /** A message was lost: the receiver is gone or does not read. */
  messageLost(): void;
}

export type OpenCluster = Awaited<ReturnType<typeof openCluster>>;

export async function openCluster({
  run: nodeId,
  key,
  host,
  port,
  address: configuredAddress,
  join,
  observe,
  logger,
  after = systemTimer,
}: ClusterOptions) {
  const handlers = new Map<string, MessageHandler>();
  const listener = await openListener({ nodeId, key, host, port, handlers, logger, after });
  const address = addressOf(configuredAddress ?? host, listener.port);
  const connections = new Map<string, PeerConnection>();
  /** Member lookups in progress, by node. */
  const lookups = new Map<string, Promise<PeerConnection | undefined>>();
  let waitingBytes = 0;
  /** Nodes that the last member lookup did not find. */
  const unknown = new Set<string>();
  /** Live nodes that do not answer at their address. */
  const unreachablePeers = new Set<string>();
  let hasWarned = false;
  let connected = 0;
  let hasClosed = false;
  let members: Members & { leave(): Promise<void> };

  function connectTo(to: string): PeerConnection {
    const onChange = (isOpen: boolean) => {
      connected += isOpen ? 1 : -1;
      unreachablePeers.delete(to);
      observe?.connected(connected);
      logger.debug({ to, isOpen }, 'connection to another node opened or closed');
    };
    const onDropped = () => observe?.messageLost();
    const onUnreachable = (at: string) => {
      unreachablePeers.add(to);
      logger.warn({ to, address: at }, PEER_UNREACHABLE);
    };
    const addressOfPeer = () => members.address(to);
    const beats = () => members.beats(to);
    return createPeerConnection({
      nodeId,
      peerId: to,
      key,
      address: addressOfPeer,
      beats,
      onChange,
      onDropped,
      onUnreachable,
      after,
    });
  }

  function updateConnections() {
    // The first refresh calls back before `join` has returned the members.
    if (!members || hasClosed) return;
    unknown.clear();
    const alive = members.liveNodes();
    for (const to of alive) if (to !== nodeId && !connections.has(to)) connections.set(to, connectTo(to));
    for (const [to, connection] of connections) {
      if (alive.has(to)) continue;
      connections.delete(to);
      unreachablePeers.delete(to);
      connection.close();
    }
    const by = members.unreachedBy();
    if (by.length > 0 && !hasWarned) logger.warn({ by, address }, UNREACHED_BY_OTHERS);
    hasWarned = by.length > 0;
  }

  /** Refreshes the member list: the node may have joined since the last refresh. */
  async function lookUp(to: string): Promise<PeerConnection | undefined> {
    await members.look().catch(() => {});
    if (!connections.has(to)) unknown.add(to);
    lookups.delete(to);
    return connections.get(to);
  }

  /**
   * Returns the connection to a node: synchronously if known, so that messages keep their order; else after one lookup.
   * Undefined if unknown, or if too many messages wait for lookups. `bytes` is 0 for a request, as its sender waits.
   */
  function connectionFor(to: string, bytes: number): PeerConnection | undefined | Promise<PeerConnection | undefined> {
    const known = connections.get(to);
    if (!lookups.has(to) && (known || unknown.has(to) || hasClosed)) return known;
    if (bytes > 0 && waitingBytes > MAX_WAITING_BYTES) return undefined;
    const lookup = lookups.get(to) ?? lookUp(to);
    lookups.set(to, lookup);
    waitingBytes += bytes;
    return lookup.finally(() => {
      waitingBytes -= bytes;
    });
  }

  try {
    members = await join(address, updateConnections, () => [...unreachablePeers]);
  } catch (error) {
    await listener.close();
    throw error;
  }
  updateConnections();

  /** Opens a named message channel; call once per name. */
  const channel = (name: string): Cluster => ({
    onMessage: (handler) => void handlers.set(name, handler),
    nodeId,
    liveNodes: () => members.liveNodes(),
    send(to, message) {
      observe?.messageSent();
      const deliver = (connection: PeerConnection | undefined) =>
        connection ? connection.send(name, message) : observe?.messageLost();
      const connection = connectionFor(to, Buffer.byteLength(message.body));
      if (connection instanceof Promise) void connection.then(deliver);
      else deliver(connection);
    },
    async request(to, target, message) {
      observe?.messageSent();
      const found = connectionFor(to, 0);
      const connection = found instanceof Promise ? await found : found;
      if (connection) return connection.request(name, target, message);
      observe?.messageLost();
      return false;
    },
  });

  return {
    address,
    channel,
    liveNodes: () => members.liveNodes(),
    /** Nodes that report they cannot connect to this one. */
    unreachedBy: () => members.unreachedBy(),
    async close(): Promise<void> {
      hasClosed = true;
      for (const connection of connections.values()) connection.close();
      await Promise.all([listener.close(), members.leave().catch((err) => logger.warn({ err }, LEAVE_FAILED))]);
    },
  };
}

/** Bytes of messages that wait for member lookups. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

const PEER_UNREACHABLE =
  'cannot connect to a live node at its published address; check mesh.host and mesh.address of that node and the network';

const UNREACHED_BY_OTHERS =
  'other nodes cannot connect to this one, so live messages do not arrive here; check mesh.host, mesh.address and the firewall';

const LEAVE_FAILED = 'could not leave the member list; other nodes will notice within seconds';

/** Adds the listening port to an address without one. */
function addressOf(name: string, port: number): string {
  if (/^[^:]+:\d+$|\]:\d+$/.test(name)) return name;
  return `${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
}
