/** Serves `Streams/Delete` and `Streams/Tombstone`. */
import { RequestRefused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import type { ExpectedRevision } from '../log/expected.js';
import { deleteSucceeded } from '../wire/answers.js';
import { toGrpcError } from '../wire/failures.js';
import { type Handler, unary } from '../wire/grpc.js';
import { decodeDelete } from '../wire/requests.js';
import { checkStreamName } from './appending.js';

type Removal = (log: EventLog, stream: string, expected: ExpectedRevision, now: number) => number;

export const removalHandler = (log: EventLog, remove: Removal): Handler =>
  unary(async (bytes, { deadline }) => {
    const { stream, expected } = decodeDelete(bytes);
    checkStreamName(stream);
    try {
      const position = await log.submit((now) => {
        if (deadline !== undefined && deadline <= now) throw new RequestRefused({ kind: 'timeout' });
        return remove(log, stream, expected, now);
      });
      return deleteSucceeded(position);
    } catch (error) {
      throw toGrpcError(error, 'Delete');
    }
  });
