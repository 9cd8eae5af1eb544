/** Relays signaling messages between participants, across nodes, directly to the node that holds the socket. */
import type { MeetingEvent } from '../../domain/meeting/catalog.js';
import type { Person } from '../../domain/meeting/state.js';
import type { Cluster, ClusterMessage, MessageHandler, Position } from '../ports/index.js';
import type { Audience } from '../subscription/index.js';
import type { Rooms } from './audience/audience.js';
import { isStillCurrent, type RepeatedCommand } from './audience/repeat-state.js';

/** Sender and target, both in the same room; `node` is the process that holds the target's socket. */
export interface Route {
  readonly roomId: string;
  readonly from: Pick<Person, 'id'>;
  readonly to: Pick<Person, 'id' | 'node'>;
}

/** A message that is not stored. */
export interface EphemeralMessage {
  /** The serialized message. */
  readonly json: string;
  /**
   * The repeated command (JSON) the message stems from; the message is dropped if it is outdated when its turn to
   * be sent comes.
   */
  readonly repeats?: string | undefined;
}

export interface ClusterSignalingPorts {
  readonly local: ReturnType<typeof createLocalSignaling>;
  readonly mesh: Cluster;
  /** Returns the open rooms as the relay knows them. */
  readonly rooms: () => Pick<Rooms, 'get'>;
  /** Returns the position up to which the rooms are known. */
  readonly lastPosition: () => Position;
  /** Resolves to true once the rooms are known up to the position, to false on a timeout. */
  readonly awaitPosition: (position: Position) => Promise<boolean>;
}

/** Bytes of messages that wait for this node's rooms to catch up; messages beyond are dropped. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

export type ClusterSignaling = ReturnType<typeof createClusterSignaling>;

/**
 * Creates signaling across all nodes. Both the sending and the receiving node check that sender and target are in
 * the room.
 */
export function createClusterSignaling({ local, mesh, rooms, lastPosition, awaitPosition }: ClusterSignalingPorts) {
  let waitingBytes = 0;

  const areConnected = ({ roomId, from, to }: Route, node: string): boolean => {
    const { people = [] } = rooms().get(roomId) ?? {};
    const isAtNode = (id: string, at: string) => people.some((each) => each.id === id && each.node === at);
    return isAtNode(from.id, node) && isAtNode(to.id, to.node);
  };

  const clusterMessage = (
    how: 'tell' | 'pass',
    { roomId, from, to }: Route,
    { json, repeats }: EphemeralMessage,
  ): ClusterMessage => ({
    head: {
      how,
      roomId,
      from: from.id,
      to: to.id,
      position: String(lastPosition()),
      ...(repeats !== undefined && { repeats }),
    },
    body: json,
  });

  /** The sending node may know of people who joined before this node does; wait until its position is reached here. */
  async function catchUp(position: Position, bytes: number): Promise<boolean> {
    if (waitingBytes + bytes > MAX_WAITING_BYTES) return false;
    waitingBytes += bytes;
    try {
      return await awaitPosition(position);
    } finally {
      waitingBytes -= bytes;
    }
  }

  // Keeps the order: waiting messages resume in order of arrival, before any later message.
  const onMessage: MessageHandler = async (node, { head, body }) => {
    const { how, roomId = '', from = '', to = '', position = '', repeats } = head;
    if (!/^\d{1,20}$/.test(position)) return false;
    if (lastPosition() < BigInt(position) && !(await catchUp(BigInt(position), body.length))) return false;
    const route = { roomId, from: { id: from }, to: { id: to, node: mesh.nodeId } };
    if (!areConnected(route, node)) return false;
    const message = { json: body, repeats };
    return how === 'pass' ? local.sendWithBackpressure(to, message) : local.send(to, message);
  };
  mesh.onMessage(onMessage);

  return {
    /** Sends immediately, in order. Recipients that leave too much unread are disconnected. */
    send(route: Route, message: EphemeralMessage): void {
      if (!areConnected(route, mesh.nodeId)) return;
      const { to } = route;
      if (to.node === mesh.nodeId) local.send(to.id, message);
      else mesh.send(to.node, clusterMessage('tell', route, message));
    },
    /**
     * Sends in order with other calls of this method to the same target. Resolves once the target's socket has
     * drained, or the target is gone. Never rejects; never delivers part of a message.
     */
    async sendWithBackpressure(route: Route, message: EphemeralMessage): Promise<void> {
      if (!areConnected(route, mesh.nodeId)) return;
      const { to } = route;
      if (to.node === mesh.nodeId) await local.sendWithBackpressure(to.id, message);
      else await mesh.request(to.node, to.id, clusterMessage('pass', route, message));
    },
  };
}

/** A serialized message; skipped if it is stale when its turn to be sent comes. */
interface SignalFrame {
  readonly json: string;
  isStale?(): boolean;
}

/** The relay of this process. */
interface SignalRelayPort {
  state(): Rooms;
  /** Returns the number of sockets reached. */
  sendEphemeral(keys: readonly string[], frame: SignalFrame): number;
  sendWithBackpressure(key: string, frame: SignalFrame): Promise<boolean>;
}

/** Creates signaling to participants connected to this process; both methods return whether the target was reached. */
export function createLocalSignaling(relay: SignalRelayPort, audience: Audience<Rooms, MeetingEvent>) {
  const frameFor = (to: string, { json, repeats }: EphemeralMessage): SignalFrame => {
    if (repeats === undefined) return { json };
    const repeated: RepeatedCommand = JSON.parse(repeats);
    return { json, isStale: () => !isStillCurrent(audience, relay.state(), repeated, { to, json }) };
  };
  return {
    send: (id: string, message: EphemeralMessage): boolean => relay.sendEphemeral([id], frameFor(id, message)) > 0,
    sendWithBackpressure: (id: string, message: EphemeralMessage): Promise<boolean> =>
      relay.sendWithBackpressure(id, frameFor(id, message)),
  };
}
