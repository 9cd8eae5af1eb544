/** The log over `@eventstore/db-client`: appends, reads, retention and tombstones of single streams. */
import {
  ANY,
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type JSONEventData,
  MaxAppendSizeExceededError,
  NO_STREAM,
  type ReadStreamOptions,
  type ResolvedEvent,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { type EventLog, Unavailable } from '../../application/ports.js';
import type { Codec } from './codec.js';

/** The driver sends an append's deadline but does not enforce it: a frozen server would hold it for 20 s. */
const APPEND_TIMEOUT_MS = 10_000;

const ANSWERS = [
  WrongExpectedVersionError,
  StreamDeletedError,
  StreamNotFoundError,
  MaxAppendSizeExceededError,
];

export function createEventLog(client: EventStoreDBClient, codec: Codec): EventLog {
  const append: EventLog['append'] = async (stream, expected, events) => {
    const encoded: JSONEventData[] = [];
    for (const event of events) {
      const stored = await codec.encode(stream, event);
      if (!stored) return { outcome: 'deleted' };
      encoded.push(stored);
    }
    const options = {
      expectedRevision: expected === 'none' ? (NO_STREAM as typeof NO_STREAM) : BigInt(expected),
      throwOnAppendFailure: true,
    };
    try {
      const done = await asked(() =>
        within(APPEND_TIMEOUT_MS, client.appendToStream(stream, encoded, options)),
      );
      const revision = Number(done.nextExpectedRevision);
      return { outcome: 'appended', revision, position: done.position?.commit ?? 0n };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) return { outcome: 'conflict' };
      if (error instanceof StreamDeletedError) return { outcome: 'deleted' };
      throw error;
    }
  };

  const read: EventLog['read'] = async (stream, { from, backwards = false, limit } = {}) => {
    const found: ResolvedEvent[] = [];
    const missing = await asked(async () => {
      const options: ReadStreamOptions = {
        direction: backwards ? BACKWARDS : FORWARDS,
        fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
        ...(limit === undefined ? {} : { maxCount: limit }),
      };
      for await (const resolved of client.readStream(stream, options)) found.push(resolved as ResolvedEvent);
    }).catch((error) => {
      if (error instanceof StreamNotFoundError) return 'missing' as const;
      if (error instanceof StreamDeletedError) return 'deleted' as const;
      throw error;
    });
    return (
      missing ??
      found.flatMap((resolved) => {
        const decoded = codec.decode(resolved);
        if (decoded.length === 0) throw new Error(`${resolved.event?.type} in ${stream} is of no known type`);
        return decoded;
      })
    );
  };

  const retain: EventLog['retain'] = async (stream, { maxCount, maxAgeSeconds }) => {
    const metadata = {
      ...(maxCount === undefined ? {} : { maxCount }),
      ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds }),
    };
    await unlessEnded(() => client.setStreamMetadata(stream, metadata));
  };

  const tombstone: EventLog['tombstone'] = (stream) =>
    unlessEnded(() => client.tombstoneStream(stream, { expectedRevision: ANY }));

  return { append, read, retain, tombstone };
}

/** What was ended for ever is as ended as can be. */
async function unlessEnded(call: () => Promise<unknown>): Promise<void> {
  try {
    await asked(call);
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw error;
  }
}

/** What the store answers passes; that it does not answer, in whatever words, is `Unavailable`. */
async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (ANSWERS.some((answer) => error instanceof answer)) throw error;
    throw new Unavailable('the event store is away', { cause: error });
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the event store did not answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
