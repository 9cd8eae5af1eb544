/** The protocol between two nodes: authentication, keepalive and frames; messages one way, acknowledgements the other. */
import type { ConnectionOptions, TlsOptions } from 'node:tls';
import type { WebSocket } from 'ws';
import type { After } from '../../application/concurrency/index.js';
import type { ClusterMessage } from '../../application/ports/index.js';

/** Headers of the upgrade request: the ids of both nodes. */
export const FROM_HEADER = 'mesh-from';
export const TO_HEADER = 'mesh-to';

/** Node supports pre-shared keys only in TLS 1.2. */
const TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

const IDENTITY = 'node';

/**
 * Mutual authentication of two nodes: TLS with a pre-shared key that both derive (RFC 5489, 7905). The key is never
 * sent, a peer without it fails the handshake, and nothing can be replayed. Session keys are ephemeral, so a key that
 * leaks later does not decrypt recorded traffic.
 */
export const pskTls = (key: Buffer): { readonly client: ConnectionOptions; readonly server: TlsOptions } => ({
  client: {
    ...TLS,
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // The key authenticates the peer; there is no certificate.
    checkServerIdentity: () => undefined,
  },
  server: { ...TLS, pskCallback: () => key },
});

const PING_MS = 1000;
/** Unanswered pings in a row before the cut. Counted, not timed: this process may have been paused itself. */
const MAX_UNANSWERED = 4;

/** Terminates a connection after about 4 s without an answer: a frozen process keeps its connections open. */
export function keepAlive(socket: WebSocket, after: After): void {
  let unanswered = 0;
  const ping = () => {
    if (unanswered === MAX_UNANSWERED) return socket.terminate();
    unanswered++;
    socket.ping();
    cancel = after(PING_MS, ping);
  };
  let cancel = after(PING_MS, ping);
  const onAnswer = () => {
    unanswered = 0;
  };
  socket.on('pong', onAnswer).on('message', onAnswer);
  socket.once('close', () => cancel());
}

/** Maximum bytes of a message body; header and length come on top. */
export const BODY_BYTES = 1024 * 1024 + 32 * 1024;
const HEADER_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;
export const FRAME_BYTES = LENGTH_BYTES + HEADER_BYTES + BODY_BYTES;

/** A message on a channel. With a number, the sender waits for the acknowledgement. */
export interface Frame {
  readonly channel: string;
  readonly message: ClusterMessage;
  readonly number?: number | undefined;
}

export function encodeFrame({ channel, message, number }: Frame): Buffer {
  const header = JSON.stringify({ channel, head: message.head, number });
  const length = Buffer.byteLength(header);
  // One allocation: a body may carry a file, and each copy costs as much as encrypting it.
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + length + Buffer.byteLength(message.body));
  bytes.writeUInt32BE(length);
  bytes.write(header, LENGTH_BYTES);
  bytes.write(message.body, LENGTH_BYTES + length);
  return bytes;
}

/** Undefined if the bytes are not a valid frame. */
export function decodeFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const headerEnd = LENGTH_BYTES + bytes.readUInt32BE();
  if (headerEnd > bytes.length) return undefined;
  const header = parseJson(bytes.toString('utf8', LENGTH_BYTES, headerEnd));
  if (!isObject(header) || typeof header.channel !== 'string' || !isHead(header.head)) return undefined;
  const { channel, head, number } = header as {
    channel: string;
    head: ClusterMessage['head'];
    number?: unknown;
  };
  if (number !== undefined && !Number.isSafeInteger(number)) return undefined;
  return {
    channel,
    message: { head, body: bytes.toString('utf8', headerEnd) },
    number: number as number | undefined,
  };
}

/** Acknowledges a numbered message. */
export interface Acknowledgement {
  readonly number: number;
  /** Whether a recipient took it. */
  readonly delivered: boolean;
}

export const encodeAcknowledgement = ({ number, delivered }: Acknowledgement): string =>
  JSON.stringify([number, delivered]);

export function decodeAcknowledgement(text: string): Acknowledgement | undefined {
  const found = parseJson(text);
  if (!Array.isArray(found) || !Number.isSafeInteger(found[0]) || typeof found[1] !== 'boolean') return undefined;
  return { number: found[0], delivered: found[1] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isHead = (value: unknown): value is ClusterMessage['head'] =>
  isObject(value) && Object.values(value).every((each) => typeof each === 'string');
