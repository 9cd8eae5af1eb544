/** Soft delete (the stream may begin again) and tombstone (never). */
import { systemEvent, writeMetadata } from './append.js';
import { Refused } from './errors.js';
import type { EventLog } from './event-log.js';
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from './expected.js';
import { isMetastream, metastreamOf, SOFT_DELETED, softDeletion } from './metadata.js';

/** Soft-deletes a stream; only inside `submit`. Returns the position of what it wrote. Throws `Refused`. */
export function softDelete(log: EventLog, name: string, expected: ExpectedRevision, now: number): number {
  refuseMetadata(name);
  judge(log, name, expected);
  const actual = log.streams.written(name)?.lastRevision ?? -1;
  const described = (log.streams.written(metastreamOf(name))?.lastRevision ?? -1) >= 0;
  if (actual < 0 && !described) throw new Refused({ kind: 'wrong-expected-version', stream: name, expected, actual });
  return writeMetadata(log, name, softDeletion, now);
}

/** Deletes a stream for ever; only inside `submit`. Works on missing streams too. Throws `Refused`. */
export function tombstone(log: EventLog, name: string, expected: ExpectedRevision, now: number): number {
  refuseMetadata(name);
  judge(log, name, expected);
  const stream = log.streams.written(name) ?? log.streams.create(name);
  log.streams.put({ ...stream, tombstoned: true });
  return log.writeTombstone(stream, systemEvent('$streamDeleted'), now);
}

/** Without it a stream could not be opened again. */
function refuseMetadata(name: string): void {
  if (isMetastream(name)) throw new Refused({ kind: 'bad-request', detail: 'Deleting metadata is not implemented.' });
}

function judge(log: EventLog, name: string, expected: ExpectedRevision): void {
  if (log.streams.isTombstoned(name, 'written')) throw new Refused({ kind: 'stream-deleted', stream: name });
  const stream = log.streams.written(name);
  const actual = stream?.lastRevision ?? -1;
  const softDeleted = stream?.truncateBefore === SOFT_DELETED;
  if (expected === ANY || expected === BigInt(actual)) return;
  if (expected === NO_STREAM && softDeleted) return;
  if (expected === STREAM_EXISTS && actual >= 0) {
    if (softDeleted) throw new Refused({ kind: 'stream-deleted', stream: name });
    return;
  }
  throw new Refused({ kind: 'wrong-expected-version', stream: name, expected, actual });
}
