/** Deletes streams: soft delete (the stream may be reopened) and tombstone (permanent). */
import { systemEvent, writeMetadata } from './append.js';
import { RequestRefused } from './errors.js';
import type { EventLog } from './event-log.js';
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from './expected.js';
import { isMetastream, metastreamOf, SOFT_DELETE_METADATA, SOFT_DELETED } from './metadata.js';

/**
 * Soft-deletes a stream and returns the position of the metadata event. Call only inside `submit`. Throws
 * `RequestRefused`.
 */
export function softDelete(log: EventLog, name: string, expected: ExpectedRevision, now: number): number {
  refuseMetadata(name);
  checkExpected(log, name, expected);
  const actual = log.streams.written(name)?.lastRevision ?? -1;
  const hasMetadata = (log.streams.written(metastreamOf(name))?.lastRevision ?? -1) >= 0;
  if (actual < 0 && !hasMetadata)
    throw new RequestRefused({ kind: 'wrong-expected-version', stream: name, expected, actual });
  return writeMetadata(log, name, SOFT_DELETE_METADATA, now);
}

/** Deletes a stream permanently; also works on missing streams. Call only inside `submit`. Throws `RequestRefused`. */
export function tombstone(log: EventLog, name: string, expected: ExpectedRevision, now: number): number {
  refuseMetadata(name);
  checkExpected(log, name, expected);
  const stream = log.streams.written(name) ?? log.streams.create(name);
  log.streams.put({ ...stream, tombstoned: true });
  return log.writeTombstone(stream, systemEvent('$streamDeleted'), now);
}

/** Without its metadata a deleted stream could not be reopened. */
function refuseMetadata(name: string): void {
  if (isMetastream(name))
    throw new RequestRefused({ kind: 'bad-request', detail: 'Deleting metadata is not implemented.' });
}

function checkExpected(log: EventLog, name: string, expected: ExpectedRevision): void {
  if (log.streams.isTombstoned(name, 'written')) throw new RequestRefused({ kind: 'stream-deleted', stream: name });
  const stream = log.streams.written(name);
  const actual = stream?.lastRevision ?? -1;
  const softDeleted = stream?.truncateBefore === SOFT_DELETED;
  if (expected === ANY || expected === BigInt(actual)) return;
  if (expected === NO_STREAM && softDeleted) return;
  if (expected === STREAM_EXISTS && actual >= 0) {
    if (softDeleted) throw new RequestRefused({ kind: 'stream-deleted', stream: name });
    return;
  }
  throw new RequestRefused({ kind: 'wrong-expected-version', stream: name, expected, actual });
}
