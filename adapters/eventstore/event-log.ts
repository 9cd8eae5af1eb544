/** The event log over `@eventstore/db-client`: appends, reads, retention and tombstones of streams; lookups of events by position. */
import type { EventStoreDBClient, JSONEventData, ReadStreamOptions } from '@eventstore/db-client';
import { createYielder } from '../../application/concurrency/index.js';
import { type EventLog, type Logger, type Position, UnavailableError } from '../../application/ports/index.js';
import { callStore, createAppendDeadline, readAll } from './client.js';
import { type Codec, decodeStoredEvent } from './codec.js';
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
import { FILLER, type LogPositions, OWN_POSITIONS } from './log-positions.js';
import { isRefusedPosition, readHeadPosition } from './subscription.js';

/** Stream of write probes; only its last event is kept. */
const PROBE_STREAM = 'annals-trial';
/** Stream of probes that read the store's clock. */
const TIME_STREAM = 'annals-time';
const NEWEST = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const;
const PROBE_METADATA = { maxCount: 1, padding: 'x'.repeat(64 * 1024) };

export function createEventLog(client: EventStoreDBClient, codec: Codec, logger: Logger) {
  const withAppendDeadline = createAppendDeadline(logger);
  const append: EventLog['append'] = async (stream, expected, events) => {
    const encoded: JSONEventData[] = [];
    const pauseIfDue = createYielder();
    for (const event of events) {
      const pause = pauseIfDue();
      if (pause) await pause;
      const stored = await codec.encode(stream, event);
      if (!stored) return { outcome: 'deleted' };
      encoded.push(stored);
    }
    const options = {
      expectedRevision: expected === 'none' ? (NO_STREAM as typeof NO_STREAM) : BigInt(expected),
      throwOnAppendFailure: true,
    };
    try {
      const result = await withAppendDeadline((deadline) =>
        client.appendToStream(stream, encoded, { ...options, deadline }),
      );
      const revision = Number(result.nextExpectedRevision);
      return { outcome: 'appended', revision, position: result.position?.commit ?? 0n };
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
      const events = await readAll(() => client.readStream(stream, options));
      const real = events.filter(({ event }) => event?.type !== FILLER);
      const decoded = real.flatMap((resolved) => {
        const latest = codec.decode(resolved);
        if (latest.length === 0) throw new Error(`${resolved.event?.type} in ${stream} has an unknown event type`);
        return latest;
      });
      const next = Number(events.at(-1)?.event?.revision) + (backwards ? -1 : 1);
      // A page without the fillers that it had would look like the last one.
      if (real.length === events.length || events.length !== limit || next < 0) return decoded;
      const rest = await read(stream, { from: next, backwards, limit: limit - real.length });
      return [...decoded, ...(typeof rest === 'string' ? [] : rest)];
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
    await ignoreTombstoned(() =>
      withAppendDeadline((deadline) => client.setStreamMetadata(stream, metadata, { deadline })),
    );
  };

  const tombstone: EventLog['tombstone'] = (stream) =>
    ignoreTombstoned(() => callStore(() => client.tombstoneStream(stream, { expectedRevision: ANY })));

  const probe = async () => {
    await withAppendDeadline((deadline) => client.setStreamMetadata(PROBE_STREAM, PROBE_METADATA, { deadline }));
  };

  /** Time of the store's clock: Unix ms. Rejects with `UnavailableError`. */
  const time = async () => {
    await withAppendDeadline((deadline) => client.setStreamMetadata(TIME_STREAM, { maxCount: 1 }, { deadline }));
    const [resolved] = await readAll(() => client.readStream(`$$${TIME_STREAM}`, NEWEST));
    if (!resolved?.event) throw new UnavailableError('the event store did not return its time');
    return resolved.event.created.getTime();
  };

  return { ...trackWriteHealth({ append, read, retain, tombstone }, probe), time };
}

/** Ignores that the stream is already tombstoned. */
async function ignoreTombstoned(call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof StreamDeletedError)) throw error;
  }
}

/**
 * Tracks whether the store accepts writes: with a full disk it still serves reads. `probe` writes an event of typical
 * size.
 */
export function trackWriteHealth(log: EventLog, probe: () => Promise<void>) {
  let suspect = false;

  const tracked =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await write(...args);
        suspect = false;
        return result;
      } catch (error) {
        if (error instanceof UnavailableError) suspect = true;
        throw error;
      }
    };

  const trackedProbe = tracked(probe);
  return {
    read: log.read,
    append: tracked(log.append),
    retain: tracked(log.retain),
    tombstone: tracked(log.tombstone),
    /**
     * Resolves if the store accepts writes, as far as is known; rejects with `UnavailableError` if not. Probes only
     * after a failed write, because a probe stays in the log.
     */
    writable: async () => {
      if (suspect) await trackedProbe();
    },
  };
}

type LoadPositions = () => Promise<LogPositions>;

/**
 * Returns the event at a position of the store, if there is one, and the position of the last event; `isRefused`: the log
 * has no event there and never had. With `positions` of the log it finds no copied event.
 */
export const createEventLookup =
  (client: EventStoreDBClient, positions: LoadPositions = async () => OWN_POSITIONS) =>
  async (position: Position) => {
    const head = (await readHeadPosition(client)) ?? 0n;
    if (position > head || (await positions()).isCopied(position)) return { head };
    const fromPosition = { commit: position, prepare: position };
    try {
      const [found] = await readAll(() => client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 }));
      const [event] = found ? decodeStoredEvent(found) : [];
      return { head, event: found?.event?.position?.commit === position ? event : undefined };
    } catch (error) {
      if (isRefusedPosition(error)) return { head, isRefused: true };
      throw error;
    }
  };

/** Whether a stream has a rule that removes its events: a number of them, an age or a first revision. */
export const createRetentionLookup = (client: EventStoreDBClient) => async (stream: string) => {
  const { metadata = {} } = await callStore(() => client.getStreamMetadata(stream));
  return [metadata.maxCount, metadata.maxAge, metadata.truncateBefore].some((limit) => limit !== undefined);
};
