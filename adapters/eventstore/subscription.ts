/** One catch-up subscription that never ends: batches of events in log order, resubscribed on every error and end. */
import { setImmediate } from 'node:timers/promises';
import type { AllStreamSubscription, EventStoreDBClient } from '@eventstore/db-client';
import { sleep } from '../../application/concurrency/index.js';
import {
  type Batch,
  type Logger,
  type Position,
  type Selection,
  type Subscribe,
  UnavailableError,
} from '../../application/ports/index.js';
import { readAll, translateError } from './call.js';
import type { Codec } from './codec.js';
import { BACKWARDS, END, eventTypeFilter, FORWARDS, START, streamNameFilter } from './driver.js';

const BATCH = 1000;
const BACKOFF_MS = { first: 50, most: 5000 };

/** The position of the last event of the whole log. */
export async function headOf(client: EventStoreDBClient): Promise<Position | undefined> {
  const options = { direction: BACKWARDS, fromPosition: END, maxCount: 1 } as const;
  const found = await readAll(() => client.readAll(options));
  return found[0]?.event?.position?.commit;
}

/** The status of gRPC by which the server refuses a position that is no event's. */
const UNKNOWN = 2;

/**
 * A position to follow from, so that all after `position` comes, whether it is an event's or not: itself, the head of the
 * log instead of one beyond it, or the start of the log where the server refuses it. What comes before `position` is the
 * caller's to leave out.
 */
export async function startAfter(client: EventStoreDBClient, position: Position): Promise<Position | 'start'> {
  const head = await headOf(client);
  if (position === 0n || head === undefined) return 'start';
  if (position >= head) return head;
  const fromPosition = { commit: position, prepare: position };
  try {
    await readAll(() => client.readAll({ direction: FORWARDS, fromPosition, maxCount: 1 }));
    return position;
  } catch (error) {
    const { cause } = error as { readonly cause?: { readonly code?: unknown } };
    if (cause?.code === UNKNOWN) return 'start';
    throw error;
  }
}

/**
 * Follows what is selected from just after `from`. A real server drops a
 * slow consumer as a matter of course, so an end is as ordinary as an error: it takes up where it was.
 */
export function createFollow(client: EventStoreDBClient, codec: Codec, logger: Logger): Subscribe {
  return async function* follow({ from, signal, atOnce = BATCH, ...selection }) {
    let position = from;
    let wait = BACKOFF_MS.first;
    while (!signal.aborted) {
      try {
        for await (const batch of connect(client, codec, selection, position, atOnce, signal)) {
          position = batch.position ?? position;
          wait = BACKOFF_MS.first;
          yield batch;
        }
      } catch (error) {
        logger.warn(
          {
            err: isAnswer(error) ? translateError(error) : error,
            ...selection,
            position: String(position),
            retryMs: wait,
          },
          'subscription dropped',
        );
      }
      await sleep(wait * (0.5 + Math.random()), signal);
      wait = Math.min(wait * 2, BACKOFF_MS.most);
    }
  };
}

/** Of gRPC: what the server said, or that it can't be reached. */
const isAnswer = (error: unknown) => error instanceof Error && 'code' in error && typeof error.code === 'number';

async function* connect(
  client: EventStoreDBClient,
  codec: Codec,
  selection: Selection,
  from: Position | 'start',
  atOnce: number,
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  let scanned: Position | undefined;
  let caughtUp = false;
  let failed: unknown;
  let wake = () => {};
  const checkpointReached: Checkpoint = async (_, { commit }) => {
    scanned = commit;
    wake();
  };
  const subscription: AllStreamSubscription = client.subscribeToAll(
    {
      fromPosition: from === 'start' ? START : { commit: from, prepare: from },
      filter: filterOf(selection, checkpointReached),
    },
    { highWaterMark: atOnce },
  );
  const ended = (error?: unknown) => {
    failed ??= error ?? new UnavailableError('the event store closed the subscription');
    wake();
  };
  subscription.on('readable', () => wake());
  subscription.on('caughtUp', () => {
    caughtUp = true;
    wake();
  });
  // However it ends, it is closed.
  subscription.once('error', ended).once('close', () => ended());
  const abort = () => wake();
  signal.addEventListener('abort', abort);
  try {
    let last = from === 'start' ? undefined : from;
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      // Taken before the buffer is drained: a checkpoint or "caught up" is told while events still wait in it.
      const until = scanned;
      const atHead = caughtUp;
      const batch = drain(subscription, codec, atOnce);
      const idle = batch.taken < atOnce;
      const newest = idle ? later(batch.position, until) : batch.position;
      // The latest checkpoint of the server may be older than the latest event: the position never goes back to it.
      const position = newest !== undefined && newest > (last ?? -1n) ? newest : undefined;
      if (batch.taken > 0 || position !== undefined || (idle && atHead)) {
        if (idle) caughtUp = false;
        last = position ?? last;
        yield {
          events: batch.events,
          ...(position === undefined ? {} : { position }),
          caughtUp: idle && atHead,
        };
      }
      if (signal.aborted) return;
      if (idle) {
        if (failed) throw failed;
        await woken;
        // What has come in together is told one by one: it goes on together.
        await setImmediate();
      }
    }
  } finally {
    signal.removeEventListener('abort', abort);
    subscription.on('error', () => {});
    // Not waited for: a server that is silent would keep a process from stopping.
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

function drain(subscription: AllStreamSubscription, codec: Codec, atOnce: number) {
  const events = [];
  let taken = 0;
  let position: Position | undefined;
  while (taken < atOnce) {
    const resolved = subscription.read();
    if (resolved === null) break;
    taken++;
    position = resolved.event?.position?.commit ?? position;
    events.push(...codec.decode(resolved));
  }
  return { events, taken, position };
}

const later = (a: Position | undefined, b: Position | undefined) =>
  a === undefined || (b !== undefined && b > a) ? b : a;
