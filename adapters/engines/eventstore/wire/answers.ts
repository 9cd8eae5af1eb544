/** The answers of the `Streams` service that are not stored events. */
import type { Appended } from '../log/append.js';
import { field, message, numberField } from './protobuf.js';
import { formatUuid } from './uuid.js';

const NOTHING: Buffer = Buffer.alloc(0);

const position = (commit: number): Buffer => message(numberField(1, commit), numberField(2, commit));
const streamIdentifier = (stream: string): Buffer => field(3, stream);
const uuid = (id: Buffer): Buffer => field(2, formatUuid(id));

/** AppendResp.Success and BatchAppendResp.Success number their fields alike. */
const success = (appended: Appended): Buffer =>
  message(
    appended.revision < 0 ? field(2, NOTHING) : numberField(1, appended.revision),
    appended.position === undefined ? field(4, NOTHING) : field(3, position(appended.position)),
  );

export const appendSucceeded = (appended: Appended): Buffer => field(1, success(appended));

/** AppendResp.WrongExpectedVersion; `expected` as in `ExpectedRevision`. */
export function appendConflicted(expected: bigint, actual: number): Buffer {
  const current = actual < 0 ? field(7, NOTHING) : numberField(6, actual);
  const words = new Map([
    [-2n, 9],
    [-4n, 10],
    [-1n, 11],
  ]);
  const word = words.get(expected);
  return field(2, message(current, word === undefined ? numberField(8, expected) : field(word, NOTHING)));
}

export const batchAppendSucceeded = (correlationId: Buffer, stream: string, appended: Appended): Buffer =>
  message(field(1, uuid(correlationId)), field(3, success(appended)), field(4, streamIdentifier(stream)));

export const batchAppendFailed = (correlationId: Buffer, stream: string, status: Buffer): Buffer =>
  message(field(1, uuid(correlationId)), field(2, status), field(4, streamIdentifier(stream)));

/** DeleteResp and TombstoneResp. */
export const removed = (at: number): Buffer => field(1, position(at));

export const confirmation = (subscriptionId: string): Buffer => field(2, field(1, subscriptionId));
export const checkpoint = (at: number): Buffer => field(3, position(at));
export const streamNotFound = (stream: string): Buffer => field(4, field(1, streamIdentifier(stream)));
export const caughtUp: Buffer = field(8, NOTHING);
