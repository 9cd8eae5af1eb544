/** Serves `Streams/BatchAppend`. */
import { type Append, type AppendResult, append, BINARY_TYPE, JSON_TYPE, type RecentIds } from '../log/append.js';
import { RequestRefused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { hasAccessControl, isMetastream } from '../log/metadata.js';
import type { ProposedEvent } from '../log/record.js';
import { MAX_NAME } from '../log/streams.js';
import { batchAppendFailed, batchAppendSucceeded } from '../wire/answers.js';
import { batchStatus } from '../wire/failures.js';
import type { Handler } from '../wire/grpc.js';
import { decodeBatchAppend } from '../wire/requests.js';
import { GrpcError, Status } from '../wire/status.js';
import { isNil } from '../wire/uuid.js';

type Appender = (request: Append, deadline: number | undefined) => Promise<AppendResult>;

/** Validates and submits appends. An append that waits in the queue past its deadline is not stored. */
export const createAppender =
  (log: EventLog, recent: RecentIds): Appender =>
  async (request, deadline) => {
    checkStreamName(request.stream);
    if (request.events.length === 0) throw badRequest('An append of nothing is not implemented.');
    for (const event of request.events) checkEvent(event);
    if (isMetastream(request.stream) && request.events.some(({ data }) => hasAccessControl(data)))
      throw badRequest('Access control lists are not implemented.');
    return log.submit((now) => {
      if (deadline !== undefined && deadline <= now) throw new RequestRefused({ kind: 'timeout' });
      return append(log, recent, request, now);
    });
  };

export const badRequest = (detail: string): RequestRefused => new RequestRefused({ kind: 'bad-request', detail });

/** Rejects names that the server or the index cannot hold. */
export function checkStreamName(name: string): void {
  if (name === '') throw badRequest('A stream needs a name.');
  if (isMetastream(name) && name.length === 2) throw badRequest('$$ names no stream.');
  if (Buffer.byteLength(name) > MAX_NAME) throw badRequest(`A stream name is at most ${MAX_NAME} bytes long.`);
}

function checkEvent(event: ProposedEvent): void {
  if (isNil(event.id)) throw badRequest('An event needs an id.');
  if (event.contentType.length === 0) {
    throw new RequestRefused({ kind: 'missing-event-metadata', names: ['content-type'] });
  }
  if (!event.contentType.equals(JSON_TYPE) && !event.contentType.equals(BINARY_TYPE)) {
    throw badRequest('An event is application/json or application/octet-stream.');
  }
  if (event.type.length === 0) throw badRequest('An event needs a type.');
  if (event.type.length > MAX_NAME) throw badRequest(`An event type is at most ${MAX_NAME} bytes long.`);
}

/** Serves appends that share one call. Each comes whole in one message, as the driver sends up to 3 MiB. */
export const batchAppendHandler =
  (submit: Appender): Handler =>
  (call) => {
    let unsettled = 0;
    let ended = false;

    const settle = async (correlationId: Buffer, stream: string, work: Promise<AppendResult>): Promise<void> => {
      unsettled++;
      try {
        call.sendSoon(batchAppendSucceeded(correlationId, stream, await work));
      } catch (error) {
        // The outcome of this append is unknown, and so is that of every other append on this call.
        if (error instanceof RequestRefused && error.reason.kind === 'unavailable') return call.fail(error);
        call.sendSoon(batchAppendFailed(correlationId, stream, batchStatus(error, Buffer.from(stream))));
      }
      unsettled--;
      if (ended && unsettled === 0) call.end();
    };

    call.receive(
      (bytes) => {
        const { correlationId, options, events, isFinal } = decodeBatchAppend(bytes);
        if (!options || !isFinal) throw new GrpcError(Status.UNIMPLEMENTED, 'An append is one message here.');
        let size = 0;
        for (const { data, metadata, type } of events) size += data.length + metadata.length + type.length;
        void settle(correlationId, options.stream, submit({ ...options, events, size }, options.deadline));
      },
      () => {
        ended = true;
        if (unsettled === 0) call.end();
      },
    );
  };
