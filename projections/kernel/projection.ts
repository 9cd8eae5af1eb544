/** Projection types: events become position-guarded row updates, safe to redeliver without transactions. */
import {
  type AnyBulkWriteOperation,
  type Collection,
  type Filter,
  type IndexDescription,
  Long,
  type UpdateFilter,
} from 'mongodb';
import type { Lease, Position, RecordedEvent, Selection, Vault } from '../../application/ports/index.js';
import { type DomainEvent, type EventHandlers, handlerFor, serviceOf } from '../../domain/shared/index.js';

/** Row. `_at` is the position of the last event that changed it; a removed row stays with `gone` for a day. */
export interface Row {
  readonly _id: string;
  readonly _at: Long;
  readonly gone?: true;
  readonly goneAt?: Date;
  readonly [field: string]: unknown;
}

type Fields<Value = unknown> = { readonly [path: string]: Value };

/** Update operators that projections may use: those supported by MongoDB and the embedded engine alike. */
export interface RowUpdate {
  readonly $set?: Fields;
  readonly $setOnInsert?: Fields;
  readonly $unset?: Fields<''>;
  readonly $inc?: Fields<number>;
  readonly $max?: Fields;
  readonly $push?: Fields;
  readonly $pull?: Fields;
  readonly $addToSet?: Fields;
}

/** Change of a row by an event; at most one per event and row. */
export type RowChange =
  /** Updates the row; creates it if missing or removed. */
  | { readonly put: string; readonly update: RowUpdate }
  /** Creates a row that no earlier event can have created; cheaper than `put`. An existing row is up to date. */
  | { readonly make: string; readonly row: Fields }
  /** Updates the row if it exists. */
  | { readonly patch: string; readonly update: RowUpdate }
  /** Replaces or creates the row. */
  | { readonly replace: string; readonly row: Fields }
  /** Empties the row and leaves `gone: true` for a day, so that a redelivered event does not bring it back. */
  | { readonly remove: string }
  /**
   * Deletes all matching rows, which no later event may change. `many`: there may be more than a store can delete in
   * one call; they are deleted in chunks.
   */
  | { readonly purge: { readonly [field: string]: unknown }; readonly many?: true };

/** Projection of the events of type `Event`. */
export interface Projection<Event extends DomainEvent> {
  /** `<service>.<name>`, for example `rooms.state`. */
  readonly name: string;
  /** Increase it whenever the shape or meaning of rows changes: a new build is created and then activated. */
  readonly version: number;
  readonly indexes: readonly IndexDescription[];
  readonly debounceMs?: number;
  /** Runs in a projector of its own, because it is slow: readers of the service's other models do not wait for it. */
  readonly isolated?: true;
  /** Changes by event type. Secrets arrive and are stored encrypted. */
  readonly on: EventHandlers<RecordedEvent<Event>, readonly RowChange[]>;
}

/** TTL index of every build: deletes removed rows after a day. */
export const GONE_INDEX: IndexDescription = {
  key: { goneAt: 1 },
  name: 'gone',
  expireAfterSeconds: 86_400,
  // Otherwise nearly every row would be indexed for nothing, a third of the cost of an insert.
  sparse: true,
};

/** `rooms.state` at version 1 and run `k3x9` -> `rooms_state_v1_k3x9`. */
export const collectionName = (model: ReadModel, run: string): string =>
  `${buildsPrefix(model)}${model.version}_${run}`;

/** Name prefix of all builds of a read model, of any version. */
export const buildsPrefix = ({ name }: Pick<ReadModel, 'name'>): string => `${name.replaceAll('.', '_')}_v`;

/** Characters of the timestamp in a run id. */
const TIME_LENGTH = 8;

/**
 * Returns a new run id: sorts after the run `after`, even if clocks differ, and is unique by `random`. A reused name
 * would collide with a dropped build that some node still reads or writes.
 *
 * @param now Unix ms.
 */
export function newRun(after: string, now: number, random: string): string {
  const time = Math.max(now, after === '' ? 0 : Number.parseInt(after.slice(0, TIME_LENGTH), 36) + 1);
  return time.toString(36).padStart(TIME_LENGTH, '0') + random;
}

export const runOf = (collection: string): string => collection.slice(collection.lastIndexOf('_') + 1);

export function writesOf({ on }: AnyProjection, event: RecordedEvent): RowWrite[] {
  return (handlerFor(on, event)?.(event) ?? []).map((change) => positionGuarded(change, event));
}

const UNSET_GONE = { gone: '', goneAt: '' } as const;

/**
 * Converts a change to a write guarded by position: it does nothing if the row has this event already. `make` inserts:
 * there the duplicate key says so.
 */
export function positionGuarded(change: RowChange, { position, recordedAt }: RecordedEvent): RowWrite {
  const at = longOf(position);
  const isOlder = { $lt: at };
  if ('purge' in change) {
    const rows = { filter: { ...change.purge, _at: isOlder } };
    return change.many ? { deletePieces: rows } : { deleteMany: rows };
  }
  if ('remove' in change) {
    const replacement = { _at: at, gone: true as const, goneAt: new Date(recordedAt) };
    return { replaceOne: { filter: { _id: change.remove, _at: isOlder }, replacement, upsert: true } };
  }
  if ('replace' in change) {
    const replacement = { _at: at, ...change.row };
    return { replaceOne: { filter: { _id: change.replace, _at: isOlder }, replacement, upsert: true } };
  }
  if ('make' in change) return { insertOne: { document: { _id: change.make, _at: at, ...change.row } } };
  const $set = { ...change.update.$set, _at: at };
  if ('patch' in change) {
    const update = { ...change.update, $set } as UpdateFilter<Row>;
    return { updateOne: { filter: { _id: change.patch, _at: isOlder }, update, upsert: false } };
  }
  const update = { ...change.update, $set, $unset: { ...change.update.$unset, ...UNSET_GONE } };
  const filter = { _id: change.put, _at: isOlder };
  return { updateOne: { filter, update: update as UpdateFilter<Row>, upsert: true } };
}

export const longOf = (position: Position): Long => Long.fromBigInt(position);

export type RowWrite = AnyBulkWriteOperation<Row> | Pieces;

/** Deletion in chunks, in several calls. */
export interface Pieces {
  readonly deletePieces: { readonly filter: Filter<Row> };
}

export type Apply = (events: readonly RecordedEvent[]) => Promise<void>;

/** Build of a read model with several collections; their names start with that of the build. */
export interface Build {
  readonly vault: Vault;
  collection<Document extends object>(part: string): Collection<Document>;
  /** Applies guarded writes in order; repeating them has no effect. */
  write(part: string, writes: readonly RowWrite[]): Promise<void>;
  parts(): Promise<readonly string[]>;
  drop(part: string): Promise<void>;
}

/** Read model with a storage format of its own; it must guarantee idempotence itself. */
export interface OwnProjection {
  readonly name: string;
  readonly version: number;
  /** Event types it uses; default: all of its service. */
  readonly types?: readonly string[];
  /** Events per batch; default 1000. Lower it for large events: a rebuild holds two batches in memory. */
  readonly batchSize?: number;
  /**
   * Milliseconds that events are collected before a write, unless a reader waits; for writes with a high fixed cost.
   */
  readonly debounceMs?: number;
  readonly isolated?: true;
  /** Creates collections and indexes. State in the returned `Apply` belongs to this build and leader. */
  open(build: Build): Promise<Apply>;
  /** Yields its whole content ordered by `_id`, in a form that is equal for all builds of the same events. */
  scan(build: Build): AsyncIterable<Row>;
}

export type AnyProjection = Projection<DomainEvent>;

export type ReadModel = AnyProjection | OwnProjection;

/** Read models updated by one projector under one lease. */
export interface ProjectorGroup {
  /** Name of the service, or of the isolated read model. */
  readonly name: string;
  readonly service: string;
  readonly projections: readonly ReadModel[];
}

/** Returns the name of the projector group of a read model. */
export const groupOf = (model: Pick<ReadModel, 'name' | 'isolated'>): string =>
  model.isolated ? model.name : serviceOf(model.name);

/** Groups the read models of a service, in order. */
export function groupsOf(service: string, projections: readonly ReadModel[]): readonly ProjectorGroup[] {
  const names = [...new Set(projections.map(groupOf))];
  return names.map((name) => ({
    name,
    service,
    projections: projections.filter((each) => groupOf(each) === name),
  }));
}

export function selectionOf(model: ReadModel): Selection {
  const service = serviceOf(model.name);
  const types = 'open' in model ? model.types : Object.keys(model.on);
  return types ? { service, types } : { prefixes: [`${service}.`] };
}

export function batching(models: readonly ReadModel[]): { readonly batchSize?: number } {
  const limits = models.flatMap((model) => ('open' in model ? (model.batchSize ?? []) : []));
  return limits.length > 0 ? { batchSize: Math.min(...limits) } : {};
}

export const debounceMsOf = (models: readonly ReadModel[], defaultMs: number): number =>
  Math.min(...models.map(({ debounceMs = defaultMs }) => debounceMs));

export interface Builds {
  /**
   * Creates missing collections and indexes, and returns the function that applies events. Writes require the lease: a
   * paused leader would otherwise restore rows that its successor has removed. Rows of a build with readers (default)
   * appear in the order of their events, so that a client that pages forward misses none.
   */
  open(
    model: ReadModel,
    collection: string,
    lease: Pick<Lease, 'assertHeld'>,
    options?: { readonly isRead?: boolean },
  ): Promise<Apply>;
  /** Yields all rows that are not removed, ordered by `_id`. */
  scan(model: ReadModel, collection: string): AsyncIterable<Row>;
  list(prefix: string): Promise<readonly string[]>;
  count(collection: string): Promise<number>;
  drop(collection: string): Promise<void>;
}
