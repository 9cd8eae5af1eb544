/**
 * WebRTC connection to one participant: audio and video both ways, screens and their sound on demand, and a data channel
 * that measures the round-trip time.
 */
import type { Candidate, Signal } from '../protocol/messages.js';

export interface Tracks {
  readonly video: MediaStreamTrack | null;
  readonly audio: MediaStreamTrack | null;
  /** Our shared screen; sent in a transceiver of its own, as is its sound. */
  readonly screen: MediaStreamTrack | null;
  readonly screenSound: MediaStreamTrack | null;
}

export interface PeerOptions {
  readonly iceServers: readonly RTCIceServer[];
  /** The initiator makes the first offer and wins if both offer simultaneously. */
  readonly isInitiator: boolean;
  readonly tracks: () => Tracks;
  send(signal: PeerSignal): void;
  /** The connection state, the round-trip time or the received screen has changed. */
  onChange(link: Link): void;
}

/** What a connection carries, and how well. */
export interface Link {
  readonly state: RTCPeerConnectionState;
  /** Undefined before it was measured. */
  readonly roundTripMs: number | undefined;
  /** Their microphone and camera. */
  readonly stream: MediaStream;
  /** Their screen, while they share it, and its sound, if it has any. */
  readonly screen: MediaStream | undefined;
}

export interface VideoLimit {
  /** Bits per second. */
  readonly maxBitrate: number;
  /** Pixels. */
  readonly maxHeight: number;
}

type Unaddressed<Kind> = Kind extends unknown ? Omit<Kind, 'targetId'> : never;
export type PeerSignal = Unaddressed<Signal>;

export interface Peer {
  readonly link: Link;
  /** Whether the other side has answered recently. */
  readonly isAlive: boolean;
  /** Loudness of the received audio, 0 to 1. */
  level(): number;
  /** Whether a description comes from a newer connection: the other page was reloaded or started over. */
  isReplacedBy(signal: PeerSignal): boolean;
  onSignal(signal: PeerSignal): void;
  /** Replaces the outgoing tracks; only screens and their sound need a negotiation. */
  replaceTracks(tracks: Tracks): void;
  /** Limits the video that we send: every participant sends to all others over one uplink. */
  limitVideo(limit: VideoLimit): void;
  /** Sends an offer again that was not answered, as it may have been lost. */
  repeatOffer(): void;
  /** Looks for a new network path without interrupting the media. */
  restartIce(): void;
  close(): void;
}

const MEASURE_MS = 2000;
const ALIVE_MS = 5000;
/** An interruption of this length may be a change of networks; the media need a new path then. */
const INTERRUPTED_MS = 3000;

const fingerprintOf = (sdp: string) => /^a=fingerprint:(.*)$/m.exec(sdp)?.[1];

/** Implements "perfect negotiation" of the WebRTC recommendation, section 10.7. */
export function connectPeer({ iceServers, isInitiator, tracks, send, onChange }: PeerOptions): Peer {
  const connection = new RTCPeerConnection({ iceServers: [...iceServers] });
  const stream = new MediaStream();
  let screen: MediaStream | undefined;
  let roundTripMs: number | undefined;
  let limit: VideoLimit | undefined;
  let isOffering = false;
  let isIgnoring = false;
  let queue = Promise.resolve();
  let answeredAt = 0;
  let interruption: ReturnType<typeof setTimeout> | undefined;

  const link = (): Link => ({ state: connection.connectionState, roundTripMs, stream, screen });
  const changed = () => onChange(link());

  // A negotiated channel with a fixed id exists on both sides without being offered.
  const channel = connection.createDataChannel('distance', { negotiated: true, id: 0 });
  const measure = () => channel.readyState === 'open' && channel.send(`ask ${performance.now()}`);
  channel.onmessage = ({ data }) => {
    const [word, sent] = String(data).split(' ');
    if (word === 'ask') return channel.send(`told ${sent}`);
    answeredAt = performance.now();
    roundTripMs = answeredAt - Number(sent);
    changed();
  };
  channel.onopen = measure;
  const timer = setInterval(measure, MEASURE_MS);

  connection.ontrack = ({ track, transceiver }) => {
    if (!screenTransceivers(track.kind).includes(transceiver)) stream.addTrack(track);
  };
  connection.onicecandidate = ({ candidate }) => {
    if (candidate) send({ type: 'ice-candidate', candidate: toCandidate(candidate) });
  };
  connection.onconnectionstatechange = () => {
    const { connectionState } = connection;
    changed();
    clearTimeout(interruption);
    if (connectionState === 'failed') connection.restartIce();
    if (connectionState === 'disconnected') interruption = setTimeout(() => connection.restartIce(), INTERRUPTED_MS);
  };
  connection.onnegotiationneeded = async () => {
    // The other side makes the first offer.
    if (!isInitiator && !connection.remoteDescription) return;
    isOffering = true;
    await connection.setLocalDescription().catch(() => {});
    isOffering = false;
    sendDescription();
  };
  if (isInitiator) {
    for (const kind of ['audio', 'video']) connection.addTransceiver(kind);
    replaceTracks(tracks());
  }

  function sendDescription() {
    const { localDescription } = connection;
    if (!localDescription || localDescription.type === 'rollback' || localDescription.type === 'pranswer') return;
    send({ type: localDescription.type, sdp: localDescription.sdp });
  }

  function transceiversOf(kind: string) {
    return connection.getTransceivers().filter(({ receiver }) => receiver.track.kind === kind);
  }

  /** The first video is the camera on both sides, the first audio the microphone. */
  function screenTransceivers(kind: string) {
    return transceiversOf(kind).slice(1);
  }

  function replace(transceiver: RTCRtpTransceiver | undefined, track: MediaStreamTrack | null) {
    return transceiver?.sender.replaceTrack(track).catch(() => {});
  }

  function replaceTracks({ video, audio, screen: ownScreen, screenSound }: Tracks) {
    void replace(transceiversOf('audio')[0], audio);
    void replace(transceiversOf('video')[0], video)?.then(applyLimit);
    // Without a first description, the camera's transceiver does not exist yet.
    if (transceiversOf('video').length === 0) return;
    replaceScreen('video', ownScreen);
    replaceScreen('audio', screenSound);
  }

  function replaceScreen(kind: string, track: MediaStreamTrack | null) {
    const sending = screenTransceivers(kind).find(({ direction }) => direction.startsWith('send'));
    if (!track) {
      void replace(sending, null);
      if (sending) sending.direction = 'recvonly';
    } else if (sending) void replace(sending, track);
    else {
      const idle = screenTransceivers(kind).find(({ direction }) => ['recvonly', 'inactive'].includes(direction));
      if (!idle) connection.addTransceiver(track, { direction: 'sendrecv' });
      else {
        void replace(idle, track);
        idle.direction = 'sendrecv';
      }
    }
  }

  /** Before the first negotiation there are no parameters to change. */
  function applyLimit() {
    const sender = transceiversOf('video')[0]?.sender;
    const parameters = sender?.getParameters();
    const [encoding] = parameters?.encodings ?? [];
    if (!sender || !parameters || !encoding || !limit) return;
    const { height = limit.maxHeight } = sender.track?.getSettings() ?? {};
    encoding.maxBitrate = limit.maxBitrate;
    encoding.scaleResolutionDownBy = Math.max(1, height / limit.maxHeight);
    void sender.setParameters(parameters).catch(() => {});
  }

  /** The screen they send according to the last description. */
  function updateScreen() {
    const [picture, sound] = ['video', 'audio'].map(
      (kind) =>
        screenTransceivers(kind).find(({ currentDirection }) =>
          ['sendrecv', 'recvonly'].includes(currentDirection ?? ''),
        )?.receiver.track,
    );
    if (picture === screen?.getVideoTracks()[0] && sound === screen?.getAudioTracks()[0]) return;
    screen = picture && new MediaStream(sound ? [picture, sound] : [picture]);
    changed();
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
    if (type === 'offer') {
      for (const kind of ['audio', 'video'])
        for (const each of transceiversOf(kind).slice(0, 1)) each.direction = 'sendrecv';
      replaceTracks(tracks());
      await connection.setLocalDescription();
      sendDescription();
    }
    updateScreen();
    applyLimit();
  }

  return {
    get link() {
      return link();
    },
    get isAlive() {
      return channel.readyState === 'open' && performance.now() - answeredAt < ALIVE_MS;
    },
    level() {
      const [audio] = transceiversOf('audio');
      return audio?.receiver.getSynchronizationSources()[0]?.audioLevel ?? 0;
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
    limitVideo(next) {
      limit = next;
      applyLimit();
    },
    repeatOffer() {
      if (connection.signalingState === 'have-local-offer') sendDescription();
    },
    restartIce: () => connection.restartIce(),
    close() {
      clearInterval(timer);
      clearTimeout(interruption);
      connection.close();
    },
  };
}

const toCandidate = ({ candidate, sdpMid, sdpMLineIndex }: RTCIceCandidate): Candidate => ({
  candidate,
  sdpMid,
  sdpMLineIndex,
});
