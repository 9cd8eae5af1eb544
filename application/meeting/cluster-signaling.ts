/** What people of a meeting tell each other, wherever they are: straight to the node that holds the socket. */
import type { RoomState } from '../../domain/meeting/state.js';
import type { Cluster, ClusterMessage, MessageHandler, Position } from '../ports/index.js';
import type { EphemeralMessage, LiveRelay, LocalSignaling, Route } from './signaling-port.js';

export interface AcrossPorts {
  readonly here: LocalSignaling;
  readonly mesh: Cluster;
  /** As it is known to be, of those that are open. */
  readonly room: (roomId: string) => RoomState | undefined;
  /** Up to where in the log the rooms are known. */
  readonly heard: () => Position;
  /** Settles when they are known up to there; false when that takes long. */
  readonly hears: (position: Position) => Promise<boolean>;
}

/** What may wait for this node to hear who is in a room by now; what is more is lost. */
const MOST_WAITING = 8 * 1024 * 1024;

/** Over all nodes. Whoever tells must be in the room of whom it is for, here and there. */
export function createClusterSignaling({ here, mesh, room, heard, hears }: AcrossPorts): LiveRelay {
  let waitingBytes = 0;

  const isBetween = ({ roomId, from, to }: Route, node: string): boolean => {
    const { people = [] } = room(roomId) ?? {};
    const isThere = (id: string, at: string) => people.some((each) => each.id === id && each.node === at);
    return isThere(from.id, node) && isThere(to.id, to.node);
  };

  const saying = (
    how: 'tell' | 'pass',
    { roomId, from, to }: Route,
    { json, repeats }: EphemeralMessage,
  ): ClusterMessage => ({
    head: {
      how,
      roomId,
      from: from.id,
      to: to.id,
      heard: String(heard()),
      ...(repeats !== undefined && { repeats }),
    },
    body: json,
  });

  /** The other node may know already of people who have just come, and are to be told something. */
  async function catchUp(position: Position, bytes: number): Promise<boolean> {
    if (waitingBytes + bytes > MOST_WAITING) return false;
    waitingBytes += bytes;
    try {
      return await hears(position);
    } finally {
      waitingBytes -= bytes;
    }
  }

  // In order: what waits is let go on in the order in which it came, before anything that comes later.
  const hear: MessageHandler = async (node, { head, body }) => {
    const { how, roomId = '', from = '', to = '', heard: position = '', repeats } = head;
    if (!/^\d{1,20}$/.test(position)) return false;
    if (heard() < BigInt(position) && !(await catchUp(BigInt(position), body.length))) return false;
    const between = { roomId, from: { id: from }, to: { id: to, node: mesh.nodeId } };
    if (!isBetween(between, node)) return false;
    const live = { json: body, repeats };
    return how === 'pass' ? here.pass(to, live) : here.tell(to, live);
  };
  mesh.hear(hear);

  return {
    tell(between, live) {
      if (!isBetween(between, mesh.nodeId)) return;
      const { to } = between;
      if (to.node === mesh.nodeId) here.tell(to.id, live);
      else mesh.send(to.node, saying('tell', between, live));
    },
    async pass(between, live) {
      if (!isBetween(between, mesh.nodeId)) return;
      const { to } = between;
      if (to.node === mesh.nodeId) await here.pass(to.id, live);
      else await mesh.request(to.node, to.id, saying('pass', between, live));
    },
  };
}
