/** The connection to one other node. Reconnects by itself; requests in flight on a lost connection fail immediately. */
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { type After, createFairSemaphore, createKeyedMutex } from '../../application/concurrency/index.js';
import type { ClusterMessage } from '../../application/ports/index.js';
import {
  BODY_BYTES,
  decodeAcknowledgement,
  encodeFrame,
  FROM_HEADER,
  keepAlive,
  pskTls,
  TO_HEADER,
} from './protocol.js';

export interface PeerOptions {
  readonly nodeId: string;
  readonly peerId: string;
  readonly key: Buffer;
  /** Last known address of the other node. */
  readonly address: () => string | undefined;
  /** Heartbeats seen of the other node; grows while it lives. */
  readonly beats: () => number | undefined;
  readonly onChange: (isOpen: boolean) => void;
  readonly onDropped: () => void;
  /** Called when the node lives but cannot be connected to. */
  readonly onUnreachable: (address: string) => void;
  readonly after: After;
}

export type PeerConnection = ReturnType<typeof createPeerConnection>;

const OPEN_MS = 3000;
/** Delay between attempts, growing from the first to the second. */
const [FIRST_DELAY_MS, MAX_DELAY_MS] = [100, 2000];
/** Failed attempts before `onUnreachable`, while heartbeats arrived: a killed node is listed for seconds. */
const MAX_FAILURES = 5;
/** Unread bytes beyond which messages without acknowledgement are dropped. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;
/** Bytes of requests in flight. Targets that do not read can fill it; the others wait in turn. */
const MAX_IN_FLIGHT_BYTES = 16 * 1024 * 1024;
const ACKNOWLEDGEMENT_BYTES = 1024;

/** The receiver closes the connection on a larger message, which would lose all others. */
const isTooLarge = ({ body }: ClusterMessage) => body.length * 3 > BODY_BYTES && Buffer.byteLength(body) > BODY_BYTES;

export function createPeerConnection(options: PeerOptions) {
  const { nodeId, peerId, key, address, beats, onChange, onDropped, onUnreachable, after } = options;
  const mutex = createKeyedMutex(Number.POSITIVE_INFINITY);
  const semaphore = createFairSemaphore(`requests to ${peerId}`, MAX_IN_FLIGHT_BYTES, Number.POSITIVE_INFINITY);
  /** By number: settles a request. */
  const inFlight = new Map<number, (delivered: boolean) => void>();
  /** Number of lost connections; requests from before the last one fail. */
  let losses = 0;
  const closing = new AbortController();
  const { signal } = closing;
  let open: WebSocket | undefined;
  /** Frames queued while there is no connection. */
  let queued: Buffer[] = [];
  let queuedBytes = 0;
  let lastNumber = 0;

  function sendBytes(bytes: Buffer) {
    if (open) return open.send(bytes);
    queued.push(bytes);
    queuedBytes += bytes.length;
  }

  function failRequests() {
    losses++;
    for (const settle of inFlight.values()) settle(false);
    inFlight.clear();
  }

  /** Sends or drops the queued frames. */
  function flushQueued(socket: WebSocket | undefined) {
    const all = queued;
    [queued, queuedBytes] = [[], 0];
    if (!socket) failRequests();
    for (const bytes of all) socket ? socket.send(bytes) : onDropped();
  }

  /** Resolves when the connection has ended, with whether it was open. */
  function connect(url: string): Promise<boolean> {
    const socket = new WebSocket(`wss://${url}/`, {
      ...pskTls(key).client,
      headers: { [FROM_HEADER]: nodeId, [TO_HEADER]: peerId },
      handshakeTimeout: OPEN_MS,
      perMessageDeflate: false,
      maxPayload: ACKNOWLEDGEMENT_BYTES,
      // Masking protects plaintext proxies, which TLS rules out; it would cost more than all the rest.
      generateMask: (mask) => void mask.fill(0),
    });
    const terminate = () => socket.terminate();
    signal.addEventListener('abort', terminate);
    return new Promise((resolve) => {
      // `close` follows.
      socket.on('error', () => {});
      socket.once('open', () => {
        keepAlive(socket, after);
        open = socket;
        flushQueued(socket);
        onChange(true);
      });
      socket.on('message', (text) => {
        const acknowledgement = decodeAcknowledgement(String(text));
        if (!acknowledgement) return socket.terminate();
        inFlight.get(acknowledgement.number)?.(acknowledgement.delivered);
        inFlight.delete(acknowledgement.number);
      });
      socket.once('close', () => {
        signal.removeEventListener('abort', terminate);
        const wasOpen = open === socket;
        open = undefined;
        failRequests();
        if (wasOpen) onChange(false);
        resolve(wasOpen);
      });
    });
  }

  async function stayConnected() {
    let [failures, failuresWhileAlive, lastBeats] = [0, 0, beats()];
    while (!signal.aborted) {
      const url = address();
      const wasOpen = url !== undefined && (await connect(url));
      flushQueued(undefined);
      const [previousBeats, currentBeats] = [lastBeats, beats()];
      lastBeats = currentBeats;
      failures = wasOpen ? 0 : failures + 1;
      if (wasOpen) failuresWhileAlive = 0;
      else if (currentBeats !== previousBeats && ++failuresWhileAlive === MAX_FAILURES && url !== undefined)
        onUnreachable(url);
      const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures);
      await delay(delayMs * (0.5 + Math.random() / 2), undefined, { signal, ref: false }).catch(() => {});
    }
    flushQueued(undefined);
  }
  void stayConnected();

  return {
    send(channel: string, message: ClusterMessage) {
      const unread = open ? open.bufferedAmount : queuedBytes;
      if (signal.aborted || unread > MAX_UNREAD_BYTES || isTooLarge(message)) return onDropped();
      sendBytes(encodeFrame({ channel, message }));
    },
    request(channel: string, target: string, message: ClusterMessage): Promise<boolean> {
      const tooLarge = isTooLarge(message);
      if (tooLarge) onDropped();
      if (signal.aborted || tooLarge) return Promise.resolve(false);
      const lossesBefore = losses;
      const exchange = () =>
        new Promise<boolean>((resolve) => {
          if (signal.aborted || losses > lossesBefore) return resolve(false);
          const number = ++lastNumber;
          inFlight.set(number, resolve);
          sendBytes(encodeFrame({ channel, message, number }));
        });
      const weight = Buffer.byteLength(message.body);
      // One at a time to each target, so that a slow one cannot take all bytes in flight.
      return mutex(target, () => semaphore(exchange, target, { weight, maxWaitMs: Number.POSITIVE_INFINITY }));
    },
    close: () => closing.abort(),
  };
}
