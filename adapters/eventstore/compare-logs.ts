/** Compares the log of an event store with its copy in another one, for `annals migrate`. */
import type { ResolvedEvent } from '@eventstore/db-client';
import { eventEntry, type StoredEvent } from '../../application/audit/index.js';
import type { Batch, Position } from '../../application/ports/index.js';
import { untilCaughtUp } from '../../application/subscription/index.js';
import { decodeStoredEvent } from './codec.js';
import type { LogCopy } from './copy-log.js';
import { FILLER } from './log-positions.js';
import { createSubscription, readHeadPosition } from './subscription.js';

/** The copy of a log is not equal to its source. */
export class LogDifference extends Error {
  override readonly name = 'LogDifference';
}

const TOMBSTONE = '$streamDeleted';

const decodeCopy = (resolved: ResolvedEvent): readonly StoredEvent[] =>
  resolved.event?.type === FILLER ? [] : decodeStoredEvent(resolved);

/** Follows the events that were copied to a store; tombstones have no place in the source. */
export const followCopies = ({ target, logger }: Pick<LogCopy, 'target' | 'logger'>) =>
  createSubscription(target, (resolved) => (resolved.event?.type === TOMBSTONE ? [] : decodeCopy(resolved)), logger);

/**
 * Compares all events in order, by what a transparency log says of them. Returns the numbers of events and streams.
 * Rejects with `LogDifference` at the first one that differs, and with `UnavailableError` if a store is silent.
 */
export async function compareLogs(
  { source, target, prefixes, logger, signal }: LogCopy,
  onProgress: (progress: { readonly events: number; readonly position: Position }, until: Position) => void,
): Promise<{ readonly events: number; readonly streams: number }> {
  const until = (await readHeadPosition(source)) ?? 0n;
  const follow = { prefixes, from: 'start', signal } as const;
  const originals = eventsOf(createSubscription(source, decodeStoredEvent, logger)(follow));
  const copies = eventsOf(createSubscription(target, decodeCopy, logger)(follow));
  const streams = new Set<string>();
  for (let events = 0; ; events++) {
    const [{ value: original }, { value: copy }] = await Promise.all([originals.next(), copies.next()]);
    signal.throwIfAborted();
    if (!original && !copy) return { events, streams: streams.size };
    if (!original || !copy || textOf(original) !== textOf(copy)) throw new LogDifference(describe(original, copy));
    streams.add(copy.stream);
    if (events % PROGRESS_EVENTS === 0) onProgress({ events, position: original.position }, until);
  }
}

const PROGRESS_EVENTS = 1000;

const textOf = (event: StoredEvent): string =>
  event.type === TOMBSTONE ? `${TOMBSTONE} ${event.stream}` : JSON.stringify(eventEntry(event));

function describe(original: StoredEvent | undefined, copy: StoredEvent | undefined): string {
  const [one, other] = [original, copy].map((each) => each && `${each.type} at ${each.stream}@${each.revision}`);
  return `the copied log differs from the source: it has ${other ?? 'nothing'} in place of ${one ?? 'nothing'}`;
}

async function* eventsOf(batches: AsyncIterable<Batch<StoredEvent>>): AsyncGenerator<StoredEvent, undefined> {
  for await (const { events } of untilCaughtUp(batches)) yield* events;
  return undefined;
}
