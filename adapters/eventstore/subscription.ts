/** A catch-up subscription that never ends: batches of events in log order, reconnected after every error or end. */
import { setImmediate } from 'node:timers/promises';
import type { AllStreamSubscription, EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { sleep } from '../../application/concurrency/index.js';
import {
  type Batch,
  type Logger,
  type Position,
  type Selection,
  type Subscribe,
  UnavailableError,
} from '../../application/ports/index.js';
import { readAll, translateError } from './client.js';
import { BACKWARDS, END, eventTypeFilter, FORWARDS, START, streamNameFilter } from './driver.js';
import { type LogPositions, OWN_POSITIONS } from './log-positions.js';

/** Returns the events of a stored one; none if it is not to be delivered. */
type Decode<Event> = (resolved: ResolvedEvent) => readonly Event[];

type LoadPositions = () => Promise<LogPositions>;

const BATCH_SIZE = 1000;
const BACKOFF_MS = { first: 50, most: 5000 };

/** Returns the position of the last event in the whole log. */
export async function readHeadPosition(client: EventStoreDBClient): Promise<Position | undefined> {
  const options = { direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const;
  const events = await readAll(() => client.readAll(options));
  return events[0]?.event?.position?.commit;
}

/** gRPC status for a position that is not that of an event. */
const UNKNOWN = 2;

/**
 * Returns a position to subscribe from that yields everything after `position`, which need not be that of an
 * event: itself, the head of the log if that is lower, or the start of the log if the server refuses it. The
 * caller skips earlier events.
 */
export async function findStartPosition(
  client: EventStoreDBClient,
  positions: LoadPositions,
  position: Position,
): Promise<Position | 'start'> {
  const head = await readHeadPosition(client);
  if (position === 0n || head === undefined) return 'start';
  if ((await positions()).isCopied(position)) return position;
  if (position >= head) return head;
  const fromPosition = { commit: position, prepare: position };
  try {
    await readAll(() => client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 }));
    return position;
  } catch (error) {
    if (isRefusedPosition(error)) return 'start';
    throw error;
  }
}

/** Whether a read failed because the server refused its position. */
export function isRefusedPosition(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === UNKNOWN;
}

/**
 * Subscribes to the selected events after `from`. A server may drop a slow consumer at any time, so an end is
 * handled like an error: it reconnects at its position.
 */
export function createSubscription<Event>(
  client: EventStoreDBClient,
  decode: Decode<Event>,
  logger: Logger,
  positions: LoadPositions = async () => OWN_POSITIONS,
): Subscribe<Event> {
  return async function* follow({ from, signal, batchSize = BATCH_SIZE, ...selection }) {
    let position = from;
    let retryMs = BACKOFF_MS.first;
    while (!signal.aborted) {
      try {
        const source = { client, decode, positions: await positions() };
        for await (const batch of connect(source, selection, position, batchSize, signal)) {
          position = batch.position ?? position;
          retryMs = BACKOFF_MS.first;
          yield batch;
        }
      } catch (error) {
        logger.warn(
          {
            err: isGrpcError(error) ? translateError(error) : error,
            ...selection,
            position: String(position),
            retryMs,
          },
          'subscription dropped',
        );
      }
      await sleep(retryMs * (0.5 + Math.random()), signal);
      retryMs = Math.min(retryMs * 2, BACKOFF_MS.most);
    }
  };
}

/** Whether it is a gRPC error: of the server, or a failed connection. */
const isGrpcError = (error: unknown) => error instanceof Error && 'code' in error && typeof error.code === 'number';

interface Source<Event> {
  readonly client: EventStoreDBClient;
  readonly decode: Decode<Event>;
  readonly positions: LogPositions;
}

async function* connect<Event>(
  { client, decode, positions }: Source<Event>,
  selection: Selection,
  from: Position | 'start',
  batchSize: number,
  signal: AbortSignal,
): AsyncGenerator<Batch<Event>> {
  let scanned: Position | undefined;
  let caughtUp = false;
  let failed: unknown;
  let wake = () => {};
  const checkpointReached: Checkpoint = async (_, { commit }) => {
    scanned = positions.fromStore(commit) ?? scanned;
    wake();
  };
  const first = from === 'start' ? from : positions.toStore(from);
  const subscription: AllStreamSubscription = client.subscribeToAll(
    {
      fromPosition: first === 'start' ? START : { commit: first, prepare: first },
      filter: filterOf(selection, checkpointReached),
    },
    { highWaterMark: batchSize },
  );
  const onEnd = (error?: unknown) => {
    failed ??= error ?? new UnavailableError('the event store closed the subscription');
    wake();
  };
  subscription.on('readable', () => wake());
  subscription.on('caughtUp', () => {
    caughtUp = true;
    wake();
  });
  // `close` follows every kind of end.
  subscription.once('error', onEnd).once('close', () => onEnd());
  const abort = () => wake();
  signal.addEventListener('abort', abort);
  try {
    let last = from === 'start' ? undefined : from;
    /** Events to deliver: those after `from`, since the subscription may start earlier. */
    const select = (resolved: ResolvedEvent) => {
      const position = resolved.event && positions.of(resolved.event);
      return position === undefined || (from !== 'start' && position <= from)
        ? { events: [], position: undefined }
        : { events: decode(resolved), position };
    };
    for (;;) {
      const wakeUp = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // Read before the buffer is drained: checkpoints and "caught up" arrive while earlier events are still
      // buffered.
      const checkpoint = scanned;
      const wasCaughtUp = caughtUp;
      const batch = drain(subscription, select, batchSize);
      const idle = batch.read < batchSize;
      const candidate = idle ? latestOf(batch.position, checkpoint) : batch.position;
      // A checkpoint may be older than the latest event; the position never moves back.
      const position = candidate !== undefined && candidate > (last ?? -1n) ? candidate : undefined;
      if (batch.read > 0 || position !== undefined || (idle && wasCaughtUp)) {
        if (idle) caughtUp = false;
        last = position ?? last;
        yield {
          events: batch.events,
          ...(position === undefined ? {} : { position }),
          caughtUp: idle && wasCaughtUp,
        };
      }
      if (signal.aborted) return;
      if (idle) {
        if (failed) throw failed;
        await wakeUp;
        // Events that arrived together are emitted one by one; take them as one batch.
        await setImmediate();
      }
    }
  } finally {
    signal.removeEventListener('abort', abort);
    subscription.on('error', () => {});
    // Not awaited: a silent server would block the shutdown.
    subscription.unsubscribe().catch(() => {});
  }
}

function filterOf(selection: Selection, checkpointReached: Checkpoint) {
  const checkpoints = { checkpointInterval: 32, checkpointReached };
  if ('prefixes' in selection) return streamNameFilter({ prefixes: [...selection.prefixes], ...checkpoints });
  const prefixes = selection.types.map((type) => `${selection.service}.${type}.v`);
  return eventTypeFilter({ prefixes, ...checkpoints });
}

type Checkpoint = (subscription: unknown, position: { commit: bigint }) => Promise<void>;

type Select<Event> = (resolved: ResolvedEvent) => {
  readonly events: readonly Event[];
  readonly position: Position | undefined;
};

function drain<Event>(subscription: AllStreamSubscription, select: Select<Event>, batchSize: number) {
  const events: Event[] = [];
  let read = 0;
  let position: Position | undefined;
  while (read < batchSize) {
    const resolved = subscription.read();
    if (resolved === null) break;
    read++;
    const selected = select(resolved);
    position = selected.position ?? position;
    events.push(...selected.events);
  }
  return { events, read, position };
}

const latestOf = (a: Position | undefined, b: Position | undefined) =>
  a === undefined || (b !== undefined && b > a) ? b : a;
