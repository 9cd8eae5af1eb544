/** The log over `@eventstore/db-client`: appends, reads, retention and tombstones of single streams. */
import type { EventStoreDBClient, JSONEventData, ReadStreamOptions } from '@eventstore/db-client';
import { createYielder } from '../../application/concurrency/index.js';
import { type EventLog, type Logger, UnavailableError } from '../../application/ports/index.js';
import type { Doubt, TimeMark } from '../../application/time/index.js';
import { createAppendDeadline } from './append-deadline.js';
import { callStore, readAll } from './call.js';
import type { Codec } from './codec.js';
import {
  ANY,
  BACKWARDS,
  END,
  FORWARDS,
  NO_STREAM,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from './driver.js';
import { timestampRegister } from './timestamp-register.js';
import { trackWriteHealth, type WatchedLog } from './write-health.js';

/** Holds nothing but what is written to see whether the store takes it; only its last event is kept. */
const TRIAL_STREAM = 'annals-trial';
/** Holds nothing but what is written to see what time the store has. */
const TIME_STREAM = 'annals-time';
/** The same of when that was believed last. */
const BELIEVED_STREAM = 'annals-time-believed';
/** And of a leap that is not believed yet. */
const DOUBTED_STREAM = 'annals-time-doubted';
const TRIAL = { maxCount: 1, padding: 'x'.repeat(64 * 1024) };

export interface TimedLog extends WatchedLog {
  /** When the store took something written just now, by its own clock: Unix ms. Rejects with `Unavailable`. */
  time(): Promise<number>;
  /** When the time was believed last. */
  readonly believed: TimeMark<object>;
  /** How long a leap since has been waited for to last. */
  readonly doubted: TimeMark<Doubt>;
}

export function createEventLog(client: EventStoreDBClient, codec: Codec, logger: Logger): TimedLog {
  const inTime = createAppendDeadline(logger);
  const append: EventLog['append'] = async (stream, expected, events) => {
    const encoded: JSONEventData[] = [];
    const rest = createYielder();
    for (const event of events) {
      const resting = rest();
      if (resting) await resting;
      const stored = await codec.encode(stream, event);
      if (!stored) return { outcome: 'deleted' };
      encoded.push(stored);
    }
    const options = {
      expectedRevision: expected === 'none' ? (NO_STREAM as typeof NO_STREAM) : BigInt(expected),
      throwOnAppendFailure: true,
    };
    try {
      const done = await inTime((deadline) => client.appendToStream(stream, encoded, { ...options, deadline }));
      const revision = Number(done.nextExpectedRevision);
      return { outcome: 'appended', revision, position: done.position?.commit ?? 0n };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) {
        const { actualVersion } = error;
        return typeof actualVersion === 'bigint'
          ? { outcome: 'conflict', revision: Number(actualVersion) }
          : { outcome: 'conflict' };
      }
      if (error instanceof StreamDeletedError) return { outcome: 'deleted' };
      throw error;
    }
  };

  const read: EventLog['read'] = async (stream, { from, backwards = false, limit } = {}) => {
    const options: ReadStreamOptions = {
      direction: backwards ? BACKWARDS : FORWARDS,
      fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
      ...(limit === undefined ? {} : { maxCount: limit }),
    };
    try {
      const found = await readAll(() => client.readStream(stream, options));
      return found.flatMap((resolved) => {
        const decoded = codec.decode(resolved);
        if (decoded.length === 0) throw new Error(`${resolved.event?.type} in ${stream} is of no known type`);
        return decoded;
      });
    } catch (error) {
      if (error instanceof StreamNotFoundError) return 'missing';
      if (error instanceof StreamDeletedError) return 'deleted';
      throw error;
    }
  };

  const retain: EventLog['retain'] = async (stream, { maxCount, maxAgeSeconds, truncateBefore }) => {
    const metadata = {
      ...(maxCount === undefined ? {} : { maxCount }),
      ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
      ...(truncateBefore === undefined ? {} : { truncateBefore }),
    };
    await unlessEnded(() => inTime((deadline) => client.setStreamMetadata(stream, metadata, { deadline })));
  };

  const tombstone: EventLog['tombstone'] = (stream) =>
    unlessEnded(() => callStore(() => client.tombstoneStream(stream, { expectedRevision: ANY })));

  const tryOut = async () => {
    await inTime((deadline) => client.setStreamMetadata(TRIAL_STREAM, TRIAL, { deadline }));
  };

  const clock = timestampRegister(client, inTime, TIME_STREAM);
  const time = async () => {
    await clock.set({});
    const told = await clock.read();
    if (told === undefined) throw new UnavailableError('the event store did not say what time it is');
    return told.at;
  };

  return {
    ...trackWriteHealth({ append, read, retain, tombstone }, tryOut),
    time,
    believed: timestampRegister(client, inTime, BELIEVED_STREAM),
    doubted: timestampRegister(client, inTime, DOUBTED_STREAM),
  };
}

/** What was ended for ever is as ended as can be. */
async function unlessEnded(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw error;
  }
}
