/** What people of a meeting tell each other, wherever they are: straight to the node that holds the socket. */
import type { RoomState } from '../../domain/meeting/state.js';
import type { Cluster, ClusterMessage, MessageHandler, Position } from '../ports/index.js';
import type { EphemeralMessage, LiveRelay, LocalSignaling, Route } from './signaling-port.js';

export interface ClusterSignalingPorts {
  readonly here: LocalSignaling;
  readonly mesh: Cluster;
  /** As it is known to be, of those that are open. */
  readonly room: (roomId: string) => RoomState | undefined;
  /** Up to where in the log the rooms are known. */
  readonly lastPosition: () => Position;
  /** Settles when they are known up to there; false when that takes long. */
  readonly hears: (position: Position) => Promise<boolean>;
}

/** What may wait for this node to hear who is in a room by now; what is more is lost. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;

/** Over all nodes. Whoever tells must be in the room of whom it is for, here and there. */
export function createClusterSignaling({ here, mesh, room, lastPosition, hears }: ClusterSignalingPorts): LiveRelay {
  let waitingBytes = 0;

  const areConnected = ({ roomId, from, to }: Route, node: string): boolean => {
    const { people = [] } = room(roomId) ?? {};
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
      heard: String(lastPosition()),
      ...(repeats !== undefined && { repeats }),
    },
    body: json,
  });

  /** The other node may know already of people who have just come, and are to be told something. */
  async function catchUp(position: Position, bytes: number): Promise<boolean> {
    if (waitingBytes + bytes > MAX_WAITING_BYTES) return false;
    waitingBytes += bytes;
    try {
      return await hears(position);
    } finally {
      waitingBytes -= bytes;
    }
  }

  // In order: what waits is let go on in the order in which it came, before anything that comes later.
  const onMessage: MessageHandler = async (node, { head, body }) => {
    const { how, roomId = '', from = '', to = '', heard: position = '', repeats } = head;
    if (!/^\d{1,20}$/.test(position)) return false;
    if (lastPosition() < BigInt(position) && !(await catchUp(BigInt(position), body.length))) return false;
    const signalRoute = { roomId, from: { id: from }, to: { id: to, node: mesh.nodeId } };
    if (!areConnected(signalRoute, node)) return false;
    const message = { json: body, repeats };
    return how === 'pass' ? here.pass(to, message) : here.tell(to, message);
  };
  mesh.hear(onMessage);

  return {
    tell(signalRoute, message) {
      if (!areConnected(signalRoute, mesh.nodeId)) return;
      const { to } = signalRoute;
      if (to.node === mesh.nodeId) here.tell(to.id, message);
      else mesh.send(to.node, clusterMessage('tell', signalRoute, message));
    },
    async pass(signalRoute, message) {
      if (!areConnected(signalRoute, mesh.nodeId)) return;
      const { to } = signalRoute;
      if (to.node === mesh.nodeId) await here.pass(to.id, message);
      else await mesh.request(to.node, to.id, clusterMessage('pass', signalRoute, message));
    },
  };
}
