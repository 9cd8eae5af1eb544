/** Encodes the responses of the `Streams` service other than stored events. */
import type { AppendResult } from '../log/append.js';
import { field, fieldSize, message, numberField, varintSize, Writer } from './protobuf.js';
import { formatUuid } from './uuid.js';

const NOTHING: Buffer = Buffer.alloc(0);

const position = (commit: number): Buffer => message(numberField(1, commit), numberField(2, commit));
const streamIdentifier = (stream: string): Buffer => field(3, stream);
const uuid = (id: Buffer): Buffer => field(2, formatUuid(id));

/** Encoded in one buffer because it is sent for every append. */
export function batchAppendSucceeded(correlationId: Buffer, stream: string, appended: AppendResult): Buffer {
  const { revision, position: at } = appended;
  const nameSize = Buffer.byteLength(stream);
  const positionSize = at === undefined ? 0 : 2 * (1 + varintSize(at));
  const revisionSize = revision < 0 ? fieldSize(0) : 1 + varintSize(revision);
  const successSize = revisionSize + fieldSize(positionSize);
  const out = new Writer(fieldSize(38) + fieldSize(successSize) + fieldSize(fieldSize(nameSize)));
  out.open(1, 38).text(2, formatUuid(correlationId), 36);
  out.open(3, successSize);
  if (revision < 0) out.open(2, 0);
  else out.number(1, revision);
  if (at === undefined) out.open(4, 0);
  else out.open(3, positionSize).number(1, at).number(2, at);
  out.open(4, fieldSize(nameSize)).text(3, stream, nameSize);
  return out.bytes;
}

export const batchAppendFailed = (correlationId: Buffer, stream: string, status: Buffer): Buffer =>
  message(field(1, uuid(correlationId)), field(2, status), field(4, streamIdentifier(stream)));

export const tombstoneSucceeded = (at: number): Buffer => field(1, position(at));

export const confirmation = (subscriptionId: string): Buffer => field(2, field(1, subscriptionId));
export const checkpoint = (at: number): Buffer => field(3, position(at));
export const streamNotFound = (stream: string): Buffer => field(4, field(1, streamIdentifier(stream)));
export const caughtUp: Buffer = field(8, NOTHING);
