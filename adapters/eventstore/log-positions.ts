/**
 * Positions in a log that `annals migrate` has copied to this event store (docs/decisions/0018-migration.md).
 *
 * A copied event keeps the position and time it had in its first store: its metadata say them. So everything that refers
 * to a position stays right. Only subscriptions, which start at a position of this store, need it translated.
 */
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { type Position, UnfinishedMigrationError } from '../../application/ports/index.js';
import { readAll } from './client.js';
import { FORWARDS, START, StreamNotFoundError } from './driver.js';

/** Stream that records a migration into this store. */
export const MIGRATION_STREAM = 'annals-migration';
export const STARTED = 'annals.MigrationStarted.v1';
/** Everything up to `position` of the source stands before this event. */
export const PROGRESSED = 'annals.MigrationProgressed.v1';
/** The same, and nothing of the source stands behind it. Its position is later than any in the source. */
export const COMPLETED = 'annals.MigrationCompleted.v1';
/** Takes the revision of an event that the source no longer had, so that those of later events stay. */
export const FILLER = 'annals.Filler.v1';

/** Member of the metadata of copied events. */
export const ORIGIN = '$origin';

export interface Origin {
  readonly position: string;
  /** Unix ms. */
  readonly time: number;
}

type StoredEvent = NonNullable<ResolvedEvent['event']>;

/** Where and when the event was first recorded; undefined if it was not copied. */
export const originOf = ({ metadata }: Pick<StoredEvent, 'metadata'>): Origin | undefined =>
  (metadata as { readonly [ORIGIN]?: Origin } | undefined)?.[ORIGIN];

/** Returns position, time (Unix ms) and metadata of an event as it was first recorded. */
export function firstRecordOf({ metadata, position, created }: StoredEvent) {
  const origin = originOf({ metadata });
  if (!origin) return { position: position?.commit ?? 0n, recordedAt: created.getTime(), metadata };
  const { [ORIGIN]: _, ...original } = metadata as { readonly [member: string]: unknown };
  return { position: BigInt(origin.position), recordedAt: origin.time, metadata: original };
}

export interface LogPositions {
  /** Whether an event at this position of the log was copied. */
  isCopied(position: Position): boolean;
  /** A position in the store before all events after `position` of the log. */
  toStore(position: Position): Position | 'start';
  /** Position of the log that is reached at a position in the store, if that is known. */
  fromStore(position: Position): Position | undefined;
  /** Position in the log; undefined for a filler or tombstone among copied events, which has none. */
  of(event: StoredEvent): Position | undefined;
}

/** Positions of a log that was not copied. */
export const OWN_POSITIONS: LogPositions = {
  isCopied: () => false,
  toStore: (position) => position,
  fromStore: (position) => position,
  of: ({ position }) => position?.commit,
};

interface Mark {
  readonly log: Position;
  readonly store: Position;
}

/** Positions of a log that was copied; `marks` are in order, the last one ends the copied part. */
export function copiedPositions(marks: readonly Mark[]): LogPositions {
  const end = marks.at(-1)!;
  const markBefore = (side: keyof Mark, position: Position) => marks.findLast((mark) => mark[side] <= position);
  return {
    isCopied: (position) => position < end.store,
    toStore: (position) => (position >= end.store ? position : (markBefore('log', position)?.store ?? 'start')),
    fromStore: (position) => (position >= end.store ? position : markBefore('store', position)?.log),
    of(event) {
      const origin = originOf(event);
      if (origin) return BigInt(origin.position);
      const position = event.position?.commit;
      return position !== undefined && position >= end.store ? position : undefined;
    },
  };
}

const UNFINISHED =
  'the migration to this event store is not complete; run the same "annals migrate" again to finish it';

/** Returns a function that reads the positions of a store once. Rejects with `UnfinishedMigrationError`. */
export function createPositionLookup(client: EventStoreDBClient): () => Promise<LogPositions> {
  let lookup: Promise<LogPositions> | undefined;
  return () => {
    lookup ??= readPositions(client).catch((error) => {
      lookup = undefined;
      throw error;
    });
    return lookup;
  };
}

async function readPositions(client: EventStoreDBClient): Promise<LogPositions> {
  const events = await readMigration(client);
  if (events.length === 0) return OWN_POSITIONS;
  if (events.at(-1)!.type !== COMPLETED) throw new UnfinishedMigrationError(UNFINISHED);
  return copiedPositions(
    events
      .filter(({ type }) => type === PROGRESSED || type === COMPLETED)
      .map(({ data, position }) => ({
        log: BigInt((data as { readonly position: string }).position),
        store: position!.commit,
      })),
  );
}

/** Reads what is recorded of a migration into a store; empty if there was none. */
export async function readMigration(client: EventStoreDBClient): Promise<readonly StoredEvent[]> {
  try {
    const events = await readAll(() =>
      client.readStream(MIGRATION_STREAM, { direction: FORWARDS, fromRevision: START }),
    );
    return events.flatMap(({ event }) => event ?? []);
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    throw error;
  }
}
