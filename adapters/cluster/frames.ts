/** What goes over a connection between two nodes: what is said, and one way back that it was heard. */
import type { ClusterMessage } from '../../application/ports/index.js';

/** What is said, at most; what is said about it comes on top. */
export const BODY_BYTES = 1024 * 1024 + 32 * 1024;
const HEADER_BYTES = 32 * 1024;
const LENGTH_BYTES = 4;
export const FRAME_BYTES = LENGTH_BYTES + HEADER_BYTES + BODY_BYTES;

/** Something said on a channel; with a number where whoever says it waits to hear that it was heard. */
export interface Frame {
  readonly channel: string;
  readonly said: ClusterMessage;
  readonly number?: number | undefined;
}

export function encodeFrame({ channel, said, number }: Frame): Buffer {
  const header = JSON.stringify({ channel, head: said.head, number });
  const length = Buffer.byteLength(header);
  // In one piece: what carries a file is large, and each copy of it would cost as much as sealing it.
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + length + Buffer.byteLength(said.body));
  bytes.writeUInt32BE(length);
  bytes.write(header, LENGTH_BYTES);
  bytes.write(said.body, LENGTH_BYTES + length);
  return bytes;
}

/** Undefined where it is none. */
export function decodeFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined;
  const until = LENGTH_BYTES + bytes.readUInt32BE();
  if (until > bytes.length) return undefined;
  const header = parsed(bytes.toString('utf8', LENGTH_BYTES, until));
  if (!isObject(header) || typeof header.channel !== 'string' || !isHead(header.head)) return undefined;
  const { channel, head, number } = header as {
    channel: string;
    head: ClusterMessage['head'];
    number?: unknown;
  };
  if (number !== undefined && !Number.isSafeInteger(number)) return undefined;
  return {
    channel,
    said: { head, body: bytes.toString('utf8', until) },
    number: number as number | undefined,
  };
}

/** That what has this number was heard, and whether it came to anybody. */
export interface Heard {
  readonly number: number;
  readonly came: boolean;
}

export const encodeHeard = ({ number, came }: Heard): string => JSON.stringify([number, came]);

export function decodeHeard(text: string): Heard | undefined {
  const found = parsed(text);
  if (!Array.isArray(found) || !Number.isSafeInteger(found[0]) || typeof found[1] !== 'boolean') return undefined;
  return { number: found[0], came: found[1] };
}

function parsed(text: string): unknown {
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
