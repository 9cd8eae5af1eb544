/** Decodes requests and encodes answers: OP_MSG, and OP_QUERY for the first handshake. */
import { faultOf, MAX_DEPTH, TOO_DEEP, UNKNOWN_TYPE } from '../bson/validate.js';
import { documentValue, int32, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HEADER = 16;

/** Flag of a request that expects no answer. */
const MORE_TO_COME = 2;

/** A decoded request; its body is valid BSON. */
export interface Message {
  readonly id: number;
  readonly body: Value;
  /** Document sequences by name: the documents of an insert, the statements of an update. */
  readonly sequences: ReadonlyMap<string, readonly Value[]>;
  /** The client expects no answer. */
  readonly silent: boolean;
  readonly legacy: boolean;
  /** Database of an OP_QUERY; an OP_MSG has it in its body. */
  readonly database: string | undefined;
}

/** The message cannot be answered; the connection is closed. */
export class ProtocolError extends Error {}

/** An invalid message that can be answered with an error. */
export interface Unreadable {
  readonly id: number;
  readonly error: CommandError;
}

/** Errors: `ProtocolError` for messages on which the server closes the connection. */
export function readMessage(bytes: Buffer): Message | Unreadable {
  const id = int32(bytes, 4);
  switch (int32(bytes, 12)) {
    case OP_MSG:
      return readMsg(bytes, id);
    case OP_QUERY:
      return readQuery(bytes, id);
    default:
      throw new ProtocolError('an unknown opcode');
  }
}

function readMsg(bytes: Buffer, id: number): Message | Unreadable {
  if (bytes.length < HEADER + 4) throw new ProtocolError('a message without flags');
  const flags = bytes.readUInt32LE(HEADER);
  if (flags & 0xffff & ~MORE_TO_COME) throw new ProtocolError('an unknown required flag');
  const end = bytes.length;
  let body: Value | undefined;
  const sequences = new Map<string, Value[]>();
  let at = HEADER + 4;
  while (at < end) {
    const kind = bytes[at++];
    if (kind === 0) {
      const read = readDocument(bytes, at, end);
      if (!read) return { id, error: notWhole(bytes, at, end, 'the body of a message') };
      if (body) return { id, error: new CommandError(40430, 'Multiple body sections in message') };
      body = read;
      at = read.end;
    } else if (kind === 1) {
      if (end - at < 5) throw new ProtocolError('a cut document sequence');
      const stop = at + bytes.readInt32LE(at);
      const zero = bytes.indexOf(0, at + 4);
      if (stop > end || zero < 0 || zero >= stop) throw new ProtocolError('a wrong document sequence');
      const name = bytes.toString('utf8', at + 4, zero);
      const documents: Value[] = [];
      at = zero + 1;
      while (at < stop) {
        const read = readDocument(bytes, at, stop);
        if (!read) return { id, error: notWhole(bytes, at, stop, `the document sequence '${name}'`) };
        documents.push(read);
        at = read.end;
      }
      if (sequences.has(name)) return { id, error: new CommandError(40431, `Duplicate document sequence: ${name}`) };
      sequences.set(name, documents);
    } else return { id, error: new CommandError(40432, `Unknown section kind ${kind}`) };
  }
  if (!body) return { id, error: new CommandError(40587, 'OP_MSG messages must have a body') };
  return {
    id,
    body,
    sequences,
    silent: (flags & MORE_TO_COME) !== 0,
    legacy: false,
    database: undefined,
  };
}

/** Reads a document; undefined if it is invalid. */
function readDocument(bytes: Buffer, at: number, limit: number): Value | undefined {
  if (limit - at < 5) return undefined;
  const end = at + int32(bytes, at);
  if (end > limit || end < at || faultOf(bytes, at, end)) return undefined;
  return { ...documentValue(bytes), start: at, end };
}

function notWhole(bytes: Buffer, at: number, limit: number, where: string): CommandError {
  const fault = faultOf(bytes, at, limit);
  if (fault === TOO_DEEP) return notImplemented(15, `documents nested more than ${MAX_DEPTH} levels deep`);
  if (fault?.startsWith(UNKNOWN_TYPE)) return notImplemented(2, fault);
  return new CommandError(22, `invalid BSON in ${where}`);
}

function readQuery(bytes: Buffer, id: number): Message | Unreadable {
  const zero = bytes.indexOf(0, HEADER + 4);
  if (zero < 0 || bytes.length < zero + 14) throw new ProtocolError('a cut query');
  const namespace = bytes.toString('utf8', HEADER + 4, zero);
  const body = readDocument(bytes, zero + 9, bytes.length);
  if (!body || !namespace.endsWith('.$cmd')) throw new ProtocolError('a query that is no command');
  const database = namespace.slice(0, -5);
  return { id, body, sequences: new Map(), silent: false, legacy: true, database };
}

let nextId = 1;

/** Encodes an answer from two parts: `head` without its final zero, then the fields in `tail`. */
export function writeReply(to: { readonly id: number; readonly legacy: boolean }, head: Buffer, tail: Buffer): Buffer {
  const start = to.legacy ? HEADER + 20 : HEADER + 5;
  const size = head.length + tail.length;
  const bytes = Buffer.allocUnsafe(start + size);
  bytes.writeInt32LE(bytes.length, 0);
  bytes.writeInt32LE(nextId, 4);
  nextId = (nextId + 1) & 0x7fffffff;
  bytes.writeInt32LE(to.id, 8);
  bytes.writeInt32LE(to.legacy ? OP_REPLY : OP_MSG, 12);
  if (to.legacy) {
    bytes.fill(0, HEADER, start);
    bytes.writeInt32LE(8, HEADER);
    bytes.writeInt32LE(1, start - 4);
  } else {
    bytes.writeUInt32LE(0, HEADER);
    bytes[HEADER + 4] = 0;
  }
  head.copy(bytes, start);
  tail.copy(bytes, start + head.length - 1);
  bytes[bytes.length - 1] = 0;
  bytes.writeInt32LE(size, start);
  return bytes;
}
