/** `Streams/Append` and `Streams/BatchAppend`. */
import { type Append, type Appended, append, type RecentIds } from '../log/append.js';
import type { EventLog } from '../log/event-log.js';
import { isMetastream } from '../log/metadata.js';
import type { ProposedEvent } from '../log/record.js';
import { Refused } from '../log/refused.js';
import { MAX_NAME } from '../log/streams.js';
import {
  appendConflicted,
  appendSucceeded,
  batchAppendFailed,
  batchAppendSucceeded,
} from '../wire/answers.js';
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
  if (Buffer.byteLength(name) > MAX_NAME)
    throw badRequest(`A stream name is at most ${MAX_NAME} bytes long.`);
}

function checkEvent(event: ProposedEvent): void {
  if (isNil(event.id)) throw badRequest('An event needs an id.');
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
  into.events.push(event);
  into.size += event.data.length + event.metadata.length + event.type.length;
}

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
    if (!(error instanceof Refused) || error.reason.kind !== 'wrong-expected-version')
      return call.fail(error);
    await call.send([appendConflicted(error.reason.expected, error.reason.actual)]);
    call.end();
  }
}

/** The last part of an append must come within so many ms of the one before. */
const PART_TIMEOUT = 2000;

interface Partial extends Gathering {
  readonly correlationId: Buffer;
  readonly deadline: number | undefined;
  timer?: NodeJS.Timeout;
}

export const batchAppendHandler =
  (submit: Appender): Handler =>
  (call) => {
    const partials = new Map<string, Partial>();
    let waiting = 0;
    let ended = false;

    const settle = async (partial: Partial, work: Promise<Appended>): Promise<void> => {
      const { correlationId, target } = partial;
      waiting++;
      try {
        call.sendSoon(batchAppendSucceeded(correlationId, target.stream, await work));
      } catch (error) {
        const status = batchStatus(error, Buffer.from(target.stream));
        call.sendSoon(batchAppendFailed(correlationId, target.stream, status));
      }
      waiting--;
      if (ended && waiting === 0) call.end();
    };

    call.signal.addEventListener('abort', () => {
      for (const { timer } of partials.values()) clearTimeout(timer);
    });
    call.receive(
      (bytes) => {
        const { correlationId, options, events, isFinal } = decodeBatchAppend(bytes);
        const key = correlationId.toString('latin1');
        let partial = partials.get(key);
        if (!partial) {
          if (!options) return;
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
            partials.delete(key);
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
