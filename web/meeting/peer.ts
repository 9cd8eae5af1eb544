/** The direct connection to one of the others: picture and sound both ways, and a channel that measures how far they are. */
import type { Candidate, Signal } from './messages.js';

export interface Tracks {
  readonly video: MediaStreamTrack | null;
  readonly audio: MediaStreamTrack | null;
}

export interface PeerOptions {
  readonly iceServers: readonly RTCIceServer[];
  /** One of the two begins; when both want something at a time, it also has to wait. */
  readonly isInitiator: boolean;
  readonly tracks: () => Tracks;
  send(signal: PeerSignal): void;
  /** The state of the connection, and how long a word takes to them and back, ms, when it was measured. */
  onStateChange(state: RTCPeerConnectionState, roundTripMs?: number): void;
}

type Unaddressed<Kind> = Kind extends unknown ? Omit<Kind, 'targetId'> : never;
export type PeerSignal = Unaddressed<Signal>;

export interface Peer {
  readonly stream: MediaStream;
  /** Whether the other side has answered of late. */
  readonly isAlive: boolean;
  /** Whether a description comes from a newer connection than ours: the other page was reloaded, or has begun again. */
  isReplacedBy(signal: PeerSignal): boolean;
  onSignal(signal: PeerSignal): void;
  /** Sends other tracks than before; nothing has to be negotiated for it. */
  replaceTracks(tracks: Tracks): void;
  close(): void;
}

const MEASURE_MS = 2000;
const ALIVE_MS = 5000;

const fingerprintOf = (sdp: string) => /^a=fingerprint:(.*)$/m.exec(sdp)?.[1];

/** "Perfect negotiation" of the WebRTC recommendation, section 10.7. */
export function connectPeer({ iceServers, isInitiator, tracks, send, onStateChange }: PeerOptions): Peer {
  const connection = new RTCPeerConnection({ iceServers: [...iceServers] });
  const stream = new MediaStream();
  let isOffering = false;
  let isIgnoring = false;
  let queue = Promise.resolve();
  let answeredAt = 0;

  // With a number of its own it is there on both sides without being offered.
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
    // Who does not begin has nothing to offer before the other has.
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
      const known = connection.remoteDescription?.sdp;
      return 'sdp' in signal && !!known && fingerprintOf(known) !== fingerprintOf(signal.sdp);
    },
    onSignal(signal) {
      // In the order they came; one that can't be understood spoils none of those after it.
      queue = queue.then(() => applySignal(signal)).catch((error) => console.warn('a signal was not taken', error));
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
