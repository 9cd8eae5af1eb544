/** Serves `Streams/Append` and `Streams/BatchAppend`. */
import {
  type Append,
  type AppendResult,
  append,
  BINARY_TYPE,
  JSON_TYPE,
  MAX_APPEND_SIZE,
  type RecentIds,
} from '../log/append.js';
import { RequestRefused } from '../log/errors.js';
import type { EventLog } from '../log/event-log.js';
import { isMetastream } from '../log/metadata.js';
import type { ProposedEvent } from '../log/record.js';
import { MAX_NAME } from '../log/streams.js';
import { appendConflicted, appendSucceeded, batchAppendFailed, batchAppendSucceeded } from '../wire/answers.js';
import { batchStatus } from '../wire/failures.js';
import type { Call, Handler } from '../wire/grpc.js';
import { Malformed } from '../wire/protobuf.js';
import { decodeAppend, decodeBatchAppend, type Target } from '../wire/requests.js';
import { isNil } from '../wire/uuid.js';

type Appender = (request: Append, deadline: number | undefined) => Promise<AppendResult>;

/** Validates and submits appends. An append that waits in the queue past its deadline is not stored. */
export const createAppender =
  (log: EventLog, recent: RecentIds): Appender =>
  async (request, deadline) => {
    checkStreamName(request.stream);
    if (request.events.length === 0) throw badRequest('An append of nothing is not implemented.');
    for (const event of request.events) checkEvent(event);
    return log.submit((now) => {
      if (deadline !== undefined && deadline <= now) throw new RequestRefused({ kind: 'timeout' });
      return append(log, recent, request, now);
    });
  };

const badRequest = (detail: string): RequestRefused => new RequestRefused({ kind: 'bad-request', detail });

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

/** One append that is still receiving events. */
interface PendingAppend {
  readonly target: Target;
  readonly events: ProposedEvent[];
  size: number;
}

function addEvent(append: PendingAppend, added: ProposedEvent): void {
  append.size += added.data.length + added.metadata.length + added.type.length;
  // An append above the size limit will be refused, so its content is dropped.
  const event = append.size > MAX_APPEND_SIZE ? { ...added, data: NOTHING, metadata: NOTHING } : added;
  append.events.push(event);
}

const NOTHING: Buffer = Buffer.alloc(0);

const toRequest = ({ target, events, size }: PendingAppend): Append => ({ ...target, events, size });

export const appendHandler =
  (submit: Appender): Handler =>
  (call) => {
    let pending: PendingAppend | undefined;
    call.receive(
      (bytes) => {
        const content = decodeAppend(bytes);
        if ('stream' in content) pending = { target: content, events: [], size: 0 };
        else if (pending) addEvent(pending, content);
        else throw new Malformed('events before the options');
      },
      () => {
        if (!pending) throw new Malformed('an append without options');
        void answerAppend(call, submit(toRequest(pending), call.deadline));
      },
    );
  };

async function answerAppend(call: Call, appended: Promise<AppendResult>): Promise<void> {
  try {
    await call.send([appendSucceeded(await appended)]);
    call.end();
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.reason.kind !== 'wrong-expected-version') return call.fail(error);
    await call.send([appendConflicted(error.reason.expected, error.reason.actual)]);
    call.end();
  }
}

/** Maximum milliseconds between two parts of an append. */
const PART_TIMEOUT = 2000;
/** Marks an append already answered with Timeout. A second answer, to its late parts, would break the client. */
const EXPIRED = 'expired';

interface Partial extends PendingAppend {
  readonly correlationId: Buffer;
  readonly deadline: number | undefined;
  timer?: NodeJS.Timeout;
}

export const batchAppendHandler =
  (submit: Appender): Handler =>
  (call) => {
    const partials = new Map<string, Partial | typeof EXPIRED>();
    let unsettled = 0;
    let ended = false;

    const settle = async (partial: Partial, work: Promise<AppendResult>): Promise<void> => {
      const { correlationId, target } = partial;
      unsettled++;
      try {
        call.sendSoon(batchAppendSucceeded(correlationId, target.stream, await work));
      } catch (error) {
        // The outcome of this append is unknown, and so is that of every other append on this call.
        if (error instanceof RequestRefused && error.reason.kind === 'unavailable') return call.fail(error);
        const status = batchStatus(error, Buffer.from(target.stream));
        call.sendSoon(batchAppendFailed(correlationId, target.stream, status));
      }
      unsettled--;
      if (ended && unsettled === 0) call.end();
    };

    call.signal.addEventListener('abort', () => {
      for (const partial of partials.values()) if (partial !== EXPIRED) clearTimeout(partial.timer);
    });
    call.receive(
      (bytes) => {
        const { correlationId, options, events, isFinal } = decodeBatchAppend(bytes);
        const key = correlationId.toString('latin1');
        let partial = partials.get(key);
        if (partial === EXPIRED) {
          if (isFinal) partials.delete(key);
          return;
        }
        if (!partial) {
          if (!options) throw new Malformed('an append without options');
          partial = { correlationId, target: options, deadline: options.deadline, events: [], size: 0 };
          partials.set(key, partial);
        }
        for (const event of events) addEvent(partial, event);
        clearTimeout(partial.timer);
        const complete = partial;
        if (isFinal) {
          partials.delete(key);
          void settle(complete, submit(toRequest(complete), complete.deadline));
        } else {
          partial.timer = setTimeout(() => {
            partials.set(key, EXPIRED);
            void settle(complete, Promise.reject(new RequestRefused({ kind: 'timeout' })));
          }, PART_TIMEOUT);
        }
      },
      () => {
        ended = true;
        if (unsettled === 0) call.end();
      },
    );
  };
