/** `Streams/Append` and `Streams/BatchAppend`. */
import {
  type Append,
  type Appended,
  append,
  BINARY_TYPE,
  JSON_TYPE,
  MAX_APPEND_SIZE,
  type RecentIds,
} from '../log/append.js';
import { Refused } from '../log/errors.js';
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

type Appender = (request: Append, deadline: number | undefined) => Promise<Appended>;

/** Submits appends; one whose deadline has passed before its turn is not stored. */
export const openAppender =
  (log: EventLog, recent: RecentIds): Appender =>
  async (request, deadline) => {
    checkStreamName(request.stream);
    if (request.events.length === 0) throw badRequest('An append of nothing is not implemented.');
    for (const event of request.events) checkEvent(event);
    return log.submit((now) => {
      if (deadline !== undefined && deadline <= now) throw new Refused({ kind: 'timeout' });
      return append(log, recent, request, now);
    });
  };

const badRequest = (detail: string): Refused => new Refused({ kind: 'bad-request', detail });

/** Refuses names that the server or the index cannot hold. */
export function checkStreamName(name: string): void {
  if (name === '') throw badRequest('A stream needs a name.');
  if (isMetastream(name) && name.length === 2) throw badRequest('$$ names no stream.');
  if (Buffer.byteLength(name) > MAX_NAME) throw badRequest(`A stream name is at most ${MAX_NAME} bytes long.`);
}

function checkEvent(event: ProposedEvent): void {
  if (isNil(event.id)) throw badRequest('An event needs an id.');
  if (event.contentType.length === 0) {
    throw new Refused({ kind: 'missing-event-metadata', names: ['content-type'] });
  }
  if (!event.contentType.equals(JSON_TYPE) && !event.contentType.equals(BINARY_TYPE)) {
    throw badRequest('An event is application/json or application/octet-stream.');
  }
  if (event.type.length === 0) throw badRequest('An event needs a type.');
  if (event.type.length > MAX_NAME) throw badRequest(`An event type is at most ${MAX_NAME} bytes long.`);
}

/** Gathers the events of one append. */
interface Gathering {
  readonly target: Target;
  readonly events: ProposedEvent[];
  size: number;
}

function gather(into: Gathering, event: ProposedEvent): void {
  into.size += event.data.length + event.metadata.length + event.type.length;
  // Of an append that is refused for its size nothing is kept.
  const kept = into.size > MAX_APPEND_SIZE ? { ...event, data: NOTHING, metadata: NOTHING } : event;
  into.events.push(kept);
}

const NOTHING: Buffer = Buffer.alloc(0);

const finished = ({ target, events, size }: Gathering): Append => ({ ...target, events, size });

export const appendHandler =
  (submit: Appender): Handler =>
  (call) => {
    let gathering: Gathering | undefined;
    call.receive(
      (bytes) => {
        const content = decodeAppend(bytes);
        if ('stream' in content) gathering = { target: content, events: [], size: 0 };
        else if (gathering) gather(gathering, content);
        else throw new Malformed('events before the options');
      },
      () => {
        if (!gathering) throw new Malformed('an append without options');
        void answerAppend(call, submit(finished(gathering), call.deadline));
      },
    );
  };

async function answerAppend(call: Call, appended: Promise<Appended>): Promise<void> {
  try {
    await call.send([appendSucceeded(await appended)]);
    call.end();
  } catch (error) {
    if (!(error instanceof Refused) || error.reason.kind !== 'wrong-expected-version') return call.fail(error);
    await call.send([appendConflicted(error.reason.expected, error.reason.actual)]);
    call.end();
  }
}

/** The last part of an append must come within so many ms of the one before. */
const PART_TIMEOUT = 2000;
/** An append that was answered with Timeout: a second answer, to its late parts, would break the client. */
const EXPIRED = 'expired';

interface Partial extends Gathering {
  readonly correlationId: Buffer;
  readonly deadline: number | undefined;
  timer?: NodeJS.Timeout;
}

export const batchAppendHandler =
  (submit: Appender): Handler =>
  (call) => {
    const partials = new Map<string, Partial | typeof EXPIRED>();
    let waiting = 0;
    let ended = false;

    const settle = async (partial: Partial, work: Promise<Appended>): Promise<void> => {
      const { correlationId, target } = partial;
      waiting++;
      try {
        call.sendSoon(batchAppendSucceeded(correlationId, target.stream, await work));
      } catch (error) {
        // The outcome is unknown: so it is for everything on this call.
        if (error instanceof Refused && error.reason.kind === 'unavailable') return call.fail(error);
        const status = batchStatus(error, Buffer.from(target.stream));
        call.sendSoon(batchAppendFailed(correlationId, target.stream, status));
      }
      waiting--;
      if (ended && waiting === 0) call.end();
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
        for (const event of events) gather(partial, event);
        clearTimeout(partial.timer);
        const complete = partial;
        if (isFinal) {
          partials.delete(key);
          void settle(complete, submit(finished(complete), complete.deadline));
        } else {
          partial.timer = setTimeout(() => {
            partials.set(key, EXPIRED);
            void settle(complete, Promise.reject(new Refused({ kind: 'timeout' })));
          }, PART_TIMEOUT);
        }
      },
      () => {
        ended = true;
        if (waiting === 0) call.end();
      },
    );
  };
