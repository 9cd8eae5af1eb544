/** WebRTC connections to all other participants in the room. */
import type { Signal } from './messages.js';
import { connectPeer, type Peer, type Tracks } from './peer.js';
import type { Room } from './room.js';

export interface Distance {
  readonly state: RTCPeerConnectionState;
  readonly roundTripMs?: number;
}

export interface Peers {
  /**
   * Connects to new participants and disconnects from those who left. `isAway`: our own connection to the service
   * is lost.
   */
  update(room: Room, isAway: boolean): void;
  onSignal(from: string, signal: Signal): void;
  replaceTracks(tracks: Tracks): void;
  streamOf(id: string): MediaStream | undefined;
  close(): void;
}

export interface PeersOptions {
  readonly iceServers: readonly RTCIceServer[];
  readonly tracks: () => Tracks;
  send(signal: Signal): unknown;
  onDistance(id: string, distance: Distance): void;
}

export function createPeers({ iceServers, tracks, send, onDistance }: PeersOptions): Peers {
  const peers = new Map<string, Peer>();
  /** Participants with offers or answers that may have been lost, because a connection to the service was. */
  const stale = new Set<string>();
  let me: string | undefined;

  function ensurePeer(id: string): Peer | undefined {
    if (me === undefined || id === me) return undefined;
    const existing = peers.get(id);
    if (existing) return existing;
    const peer = connectPeer({
      iceServers,
      isInitiator: me < id,
      tracks,
      send: (signal) => send({ ...signal, targetId: id }),
      onStateChange: (state, roundTripMs) =>
        onDistance(id, { state, ...(roundTripMs !== undefined && { roundTripMs }) }),
    });
    peers.set(id, peer);
    return peer;
  }

  function disconnect(id: string) {
    peers.get(id)?.close();
    peers.delete(id);
  }

  function close() {
    for (const peer of peers.values()) peer.close();
    peers.clear();
  }

  return {
    update(room, isAway) {
      const now = room.isInside ? room.me : undefined;
      // A new id of our own is unknown to the others: start over.
      if (now !== me) close();
      me = now;
      for (const id of peers.keys()) if (!room.people.has(id)) disconnect(id);
      for (const [id, { isDisconnected }] of room.people) {
        if (isAway || isDisconnected) stale.add(id);
        // Only the initiator starts over; the other side accepts its new offer.
        else if (stale.delete(id) && me !== undefined && me < id && !peers.get(id)?.isAlive) disconnect(id);
        ensurePeer(id);
      }
    },
    onSignal(from, signal) {
      if (peers.get(from)?.isReplacedBy(signal)) disconnect(from);
      ensurePeer(from)?.onSignal(signal);
    },
    replaceTracks(tracks) {
      for (const peer of peers.values()) peer.replaceTracks(tracks);
    },
    streamOf: (id) => peers.get(id)?.stream,
    close,
  };
}
