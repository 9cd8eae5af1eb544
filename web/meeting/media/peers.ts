/** WebRTC connections to all other participants in the room. */
import type { Signal } from '../protocol/messages.js';
import type { Room } from '../protocol/room.js';
import { connectPeer, type Link, type Peer, type Tracks, type VideoLimit } from './peer.js';

export interface Peers {
  /**
   * Connects to new participants and disconnects from those who left. `isAway`: our own connection to the service
   * is lost.
   */
  update(room: Room, isAway: boolean): void;
  onSignal(from: string, signal: Signal): void;
  replaceTracks(tracks: Tracks): void;
  /** Loudness of a participant's audio, 0 to 1. */
  levelOf(id: string): number;
  /** Looks for new network paths where the media are interrupted. */
  restartIce(): void;
  close(): void;
}

export interface PeersOptions {
  readonly iceServers: readonly RTCIceServer[];
  readonly tracks: () => Tracks;
  send(signal: Signal): unknown;
  /** `link` is undefined after the participant has left. */
  onChange(id: string, link: Link | undefined): void;
}

/** What we send to each of this many others. */
function limitFor(others: number): VideoLimit {
  if (others <= 1) return { maxBitrate: 1_700_000, maxHeight: 720 };
  if (others <= 4) return { maxBitrate: 600_000, maxHeight: 360 };
  return { maxBitrate: 250_000, maxHeight: 180 };
}

export function createPeers({ iceServers, tracks, send, onChange }: PeersOptions): Peers {
  const peers = new Map<string, Peer>();
  /** Participants with offers or answers that may have been lost, because a connection to the service was. */
  const stale = new Set<string>();
  let me: string | undefined;
  let limit: VideoLimit | undefined;

  function ensurePeer(id: string): Peer | undefined {
    if (me === undefined || id === me) return undefined;
    const existing = peers.get(id);
    if (existing) return existing;
    const peer = connectPeer({
      iceServers,
      isInitiator: me < id,
      tracks,
      send: (signal) => send({ ...signal, targetId: id }),
      onChange: (link) => onChange(id, link),
    });
    peers.set(id, peer);
    if (limit) peer.limitVideo(limit);
    onChange(id, peer.link);
    return peer;
  }

  function disconnect(id: string) {
    peers.get(id)?.close();
    peers.delete(id);
    onChange(id, undefined);
  }

  function limitVideo(next: VideoLimit) {
    if (next.maxBitrate === limit?.maxBitrate) return;
    limit = next;
    for (const peer of peers.values()) peer.limitVideo(limit);
  }

  function close() {
    for (const id of [...peers.keys()]) disconnect(id);
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
        else if (stale.delete(id)) {
          const peer = peers.get(id);
          // Only the initiator starts over; the other side accepts its new offer.
          if (me !== undefined && me < id && !peer?.isAlive) disconnect(id);
          else peer?.repeatOffer();
        }
        ensurePeer(id);
      }
      limitVideo(limitFor(peers.size));
    },
    onSignal(from, signal) {
      if (peers.get(from)?.isReplacedBy(signal)) disconnect(from);
      ensurePeer(from)?.onSignal(signal);
    },
    replaceTracks(tracks) {
      for (const peer of peers.values()) peer.replaceTracks(tracks);
    },
    levelOf: (id) => peers.get(id)?.level() ?? 0,
    restartIce() {
      for (const peer of peers.values()) if (!peer.isAlive) peer.restartIce();
    },
    close,
  };
}
