/**
 * WebRTC connection to one participant: audio and video both ways, and a data channel that measures the round-trip
 * time.
 */
import type { Candidate, Signal } from './messages.js';

export interface Tracks {
  readonly video: MediaStreamTrack | null;
  readonly audio: MediaStreamTrack | null;
}

export interface PeerOptions {
  readonly iceServers: readonly RTCIceServer[];
  /** The initiator makes the first offer and wins if both offer simultaneously. */
  readonly isInitiator: boolean;
  readonly tracks: () => Tracks;
  send(signal: PeerSignal): void;
  /** Reports the connection state, and the round-trip time in ms if it was measured. */
  onStateChange(state: RTCPeerConnectionState, roundTripMs?: number): void;
}

type Unaddressed<Kind> = Kind extends unknown ? Omit<Kind, 'targetId'> : never;
export type PeerSignal = Unaddressed<Signal>;

export interface Peer {
  readonly stream: MediaStream;
  /** Whether the other side has answered recently. */
  readonly isAlive: boolean;
  /** Whether a description comes from a newer connection: the other page was reloaded or started over. */
  isReplacedBy(signal: PeerSignal): boolean;
  onSignal(signal: PeerSignal): void;
  /** Replaces the outgoing tracks without renegotiation. */
  replaceTracks(tracks: Tracks): void;
  close(): void;
}

const MEASURE_MS = 2000;
const ALIVE_MS = 5000;

const fingerprintOf = (sdp: string) => /^a=fingerprint:(.*)$/m.exec(sdp)?.[1];

/** Implements "perfect negotiation" of the WebRTC recommendation, section 10.7. */
export function connectPeer({ iceServers, isInitiator, tracks, send, onStateChange }: PeerOptions): Peer {
  const connection = new RTCPeerConnection({ iceServers: [...iceServers] });
  const stream = new MediaStream();
  let isOffering = false;
  let isIgnoring = false;
  let queue = Promise.resolve();
  let answeredAt = 0;

  // A negotiated channel with a fixed id exists on both sides without being offered.
  const channel = connection.createDataChannel('distance', { negotiated: true, id: 0 });
  const measure = () => channel.readyState === 'open' && channel.send(`ask ${performance.now()}`);
  channel.onmessage = ({ data }) => {
    const [word, sent] = String(data).split(' ');
    if (word === 'ask') channel.send(`told ${sent}`);
    else {
      answeredAt = performance.now();
      onStateChange(connection.connectionState, answeredAt - Number(sent));
    }
  };
  channel.onopen = measure;
  const timer = setInterval(measure, MEASURE_MS);

  connection.ontrack = ({ track }) => stream.addTrack(track);
  connection.onicecandidate = ({ candidate }) => {
    if (candidate) send({ type: 'ice-candidate', candidate: toCandidate(candidate) });
  };
  connection.onconnectionstatechange = () => {
    onStateChange(connection.connectionState);
    if (connection.connectionState === 'failed') connection.restartIce();
  };
  connection.onnegotiationneeded = async () => {
    // The other side makes the first offer.
    if (!isInitiator && !connection.remoteDescription) return;
    isOffering = true;
    await connection.setLocalDescription().catch(() => {});
    isOffering = false;
    sendDescription();
  };
  if (isInitiator) for (const kind of ['audio', 'video']) connection.addTransceiver(kind);
  if (isInitiator) replaceTracks(tracks());

  function sendDescription() {
    const { localDescription } = connection;
    if (!localDescription || localDescription.type === 'rollback' || localDescription.type === 'pranswer') return;
    send({ type: localDescription.type, sdp: localDescription.sdp });
  }

  function replaceTracks({ video, audio }: Tracks) {
    for (const { sender, receiver } of connection.getTransceivers())
      void sender.replaceTrack(receiver.track.kind === 'video' ? video : audio).catch(() => {});
  }

  async function applySignal(signal: PeerSignal) {
    if (signal.type === 'ice-candidate') {
      await connection.addIceCandidate(signal.candidate).catch((error) => {
        if (!isIgnoring) throw error;
      });
      return;
    }
    const { type, sdp } = signal;
    const collides = type === 'offer' && (isOffering || connection.signalingState !== 'stable');
    isIgnoring = collides && !isInitiator;
    if (isIgnoring) return;
    await connection.setRemoteDescription({ type, sdp });
    if (type === 'answer') return;
    for (const transceiver of connection.getTransceivers()) transceiver.direction = 'sendrecv';
    replaceTracks(tracks());
    await connection.setLocalDescription();
    sendDescription();
  }

  return {
    stream,
    get isAlive() {
      return channel.readyState === 'open' && performance.now() - answeredAt < ALIVE_MS;
    },
    isReplacedBy(signal) {
      const remoteSdp = connection.remoteDescription?.sdp;
      return 'sdp' in signal && !!remoteSdp && fingerprintOf(remoteSdp) !== fingerprintOf(signal.sdp);
    },
    onSignal(signal) {
      // Applied in order of arrival; a failing signal does not affect later ones.
      queue = queue
        .then(() => applySignal(signal))
        .catch((error) => console.warn('a signaling message could not be applied', error));
    },
    replaceTracks,
    close() {
      clearInterval(timer);
      connection.close();
    },
  };
}

const toCandidate = ({ candidate, sdpMid, sdpMLineIndex }: RTCIceCandidate): Candidate => ({
  candidate,
  sdpMid,
  sdpMLineIndex,
});
