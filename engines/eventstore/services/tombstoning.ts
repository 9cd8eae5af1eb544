/** Serves `Streams/Tombstone`, which deletes a stream permanently. */
import { systemEvent } from '../log/append.js';
import { RequestRefused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { ANY, type ExpectedRevision, STREAM_EXISTS } from '../log/expected.js';
import { isMetastream } from '../log/metadata.js';
import { tombstoneSucceeded } from '../wire/answers.js';
import { toGrpcError } from '../wire/failures.js';
import { type Handler, unary } from '../wire/grpc.js';
import { decodeTombstone } from '../wire/requests.js';
import { badRequest, checkStreamName } from './appending.js';

export const tombstoneHandler = (log: EventLog): Handler =>
  unary(async (bytes, { deadline }) => {
    const { stream, expected } = decodeTombstone(bytes);
    checkStreamName(stream);
    try {
      const position = await log.submit((now) => {
        if (deadline !== undefined && deadline <= now) throw new RequestRefused({ kind: 'timeout' });
        return tombstone(log, stream, expected, now);
      });
      return tombstoneSucceeded(position);
    } catch (error) {
      throw toGrpcError(error, 'Delete');
    }
  });

/** Also works on missing streams. Call only inside `submit`. Throws `RequestRefused`. */
function tombstone(log: EventLog, name: string, expected: ExpectedRevision, now: number): number {
  if (isMetastream(name)) throw badRequest('Deleting metadata is not implemented.');
  if (log.streams.isTombstoned(name, 'written')) throw new RequestRefused({ kind: 'stream-deleted', stream: name });
  const stream = log.streams.written(name);
  const actual = stream?.lastRevision ?? -1;
  const isExpected = expected === ANY || expected === BigInt(actual) || (expected === STREAM_EXISTS && actual >= 0);
  if (!isExpected) throw new RequestRefused({ kind: 'wrong-expected-version', stream: name, expected, actual });
  const state = stream ?? log.streams.create(name);
  log.streams.put({ ...state, tombstoned: true });
  return log.writeTombstone(state, systemEvent('$streamDeleted'), now);
}
