/** Translates failures into the server's errors: trailers of a call, or the status inside a `BatchAppend` response. */
import { type Reason, RequestRefused } from '../log/errors.js';
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from '../log/expected.js';
import { field, Malformed, message, numberField } from './protobuf.js';
import { GrpcError, Status } from './status.js';

/**
 * Returns the status of a failed call.
 * @param operation First word of the server's text for a wrong expected version.
 */
export function toGrpcError(error: unknown, operation = 'Append'): GrpcError {
  if (error instanceof GrpcError) return error;
  if (error instanceof Malformed) {
    return new GrpcError(Status.INVALID_ARGUMENT, `Malformed request: ${error.message}.`);
  }
  if (error instanceof RequestRefused) return refusedCall(error.reason, operation);
  const text = error instanceof Error ? error.message : '';
  if (text.startsWith('MDB_'))
    return new GrpcError(Status.DATA_LOSS, `The store is damaged, restore it from a backup: ${text}.`);
  return new GrpcError(Status.INTERNAL, 'The engine failed.');
}

function refusedCall(reason: Reason, operation: string): GrpcError {
  switch (reason.kind) {
    case 'wrong-expected-version': {
      const { expected, actual } = reason;
      const text = `${operation} failed due to WrongExpectedVersion. Stream: ${reason.stream}, Expected version: ${expected}, Actual version: ${actual}`;
      return new GrpcError(Status.FAILED_PRECONDITION, text, {
        exception: 'wrong-expected-version',
        'stream-name': headerText(reason.stream),
        'expected-version': String(expected),
        'actual-version': String(actual),
      });
    }
    case 'stream-deleted':
      return new GrpcError(Status.FAILED_PRECONDITION, `Event stream '${reason.stream}' is deleted.`, {
        exception: 'stream-deleted',
        'stream-name': headerText(reason.stream),
      });
    case 'append-too-large':
      return new GrpcError(Status.INVALID_ARGUMENT, `Maximum Append Size of ${reason.limit} Exceeded.`, {
        exception: 'maximum-append-size-exceeded',
        'maximum-append-size': String(reason.limit),
      });
    case 'missing-event-metadata':
      return new GrpcError(Status.INVALID_ARGUMENT, `Required Metadata Missing: ${reason.names.join(',')}`, {
        exception: 'missing-required-metadata-property',
        'required-metadata-properties': 'type,content-type',
      });
    case 'damaged':
      return new GrpcError(Status.DATA_LOSS, `The event at position ${reason.position} is damaged.`);
    case 'index-damaged': {
      const text = `The index of the store is damaged where stream '${reason.stream}' is looked for`;
      return new GrpcError(Status.DATA_LOSS, `${text}, restore it from a backup.`);
    }
    case 'timeout':
      return new GrpcError(Status.DEADLINE_EXCEEDED, 'Deadline Exceeded');
    case 'bad-request':
      return new GrpcError(Status.UNKNOWN, reason.detail);
    case 'unavailable':
      return new GrpcError(Status.UNAVAILABLE, 'The event store is not available.');
    case 'disk-full':
      return new GrpcError(Status.RESOURCE_EXHAUSTED, 'The disk of the event store is full.');
  }
}

/** Escapes text for a header; header values are visible ASCII. */
const headerText = (text: string): string =>
  text.replace(/[^\x20-\x7e]/gu, (character) => encodeURIComponent(character));

/** Encodes a google.rpc.Status; the client identifies the details by their type. */
export function batchStatus(error: unknown, stream: Buffer): Buffer {
  if (error instanceof RequestRefused) {
    const { reason } = error;
    switch (reason.kind) {
      case 'wrong-expected-version':
        return status(6, 'WrongExpectedVersion', wrongExpectedVersion(reason.expected, reason.actual));
      case 'stream-deleted':
        return status(5, 'StreamDeleted', field(1, field(3, stream)));
      case 'append-too-large':
        return status(3, 'MaximumAppendSizeExceeded', numberField(1, reason.limit));
      case 'timeout':
        return status(4, 'Timeout', NOTHING);
      case 'bad-request':
        return status(3, 'BadRequest', field(1, reason.detail));
      case 'missing-event-metadata':
        return status(3, 'BadRequest', field(1, `Required Metadata Missing: ${reason.names.join(',')}`));
      case 'disk-full':
        return status(Status.RESOURCE_EXHAUSTED, 'DiskFull', NOTHING);
      case 'damaged':
      case 'index-damaged':
      case 'unavailable':
    }
  }
  return status(2, 'Unknown', NOTHING);
}

const NOTHING: Buffer = Buffer.alloc(0);

function status(code: number, name: string, details: Buffer): Buffer {
  const any = message(field(1, `type.googleapis.com/event_store.client.${name}`), field(2, details));
  return message(numberField(1, code), field(2, name), field(3, any));
}

function wrongExpectedVersion(expected: ExpectedRevision, actual: number): Buffer {
  const current = actual < 0 ? field(2, NOTHING) : numberField(1, actual);
  if (expected === ANY) return message(current, field(4, NOTHING));
  if (expected === STREAM_EXISTS) return message(current, field(5, NOTHING));
  if (expected === NO_STREAM) return message(current, field(6, NOTHING));
  return message(current, numberField(3, expected));
}
