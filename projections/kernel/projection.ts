/** The shape of a read model: events become guarded updates of rows, safe to redeliver without transactions. */
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

/** A row: `_at` is the position of the event that last touched it; a removed one says `gone` for a day. */
export interface Row {
  readonly _id: string;
  readonly _at: Long;
  readonly gone?: true;
  readonly goneAt?: Date;
  readonly [field: string]: unknown;
}

type Fields<Value = unknown> = { readonly [path: string]: Value };

/** The update operators that read models may use: those every MongoDB and the embedded engine do alike. */
export interface RowUpdate {
  readonly $set?: Fields;
  readonly $setOnInsert?: Fields;
  readonly $unset?: Fields<''>;
  readonly $inc?: Fields<number>;
  readonly $min?: Fields;
  readonly $max?: Fields;
  readonly $push?: Fields;
  readonly $pull?: Fields;
  readonly $addToSet?: Fields;
}

/** What an event does to a row. One event, at most one update per row. */
export type RowChange =
  /** Updates the row, making it if need be, also where one was removed. */
  | { readonly put: string; readonly update: RowUpdate }
  /** Makes the row, which no event before this one can have made: cheaper than `put`. One that is there is as new. */
  | { readonly make: string; readonly row: Fields }
  /** Updates the row if it is there. */
  | { readonly patch: string; readonly update: RowUpdate }
  /** Makes the row anew, whatever it was. */
  | { readonly replace: string; readonly row: Fields }
  /** Empties the row and leaves `gone: true` for a day, so that a redelivered event does not bring it back. */
  | { readonly remove: string }
  /**
   * Deletes all rows that match; only for rows that an event after it never touches again. `many`: they may be more than
   * a store deletes within one call, and go piece by piece.
   */
  | { readonly purge: { readonly [field: string]: unknown }; readonly many?: true };

/** `Event`: those that it says something of, every one of them. */
export interface Projection<Event extends DomainEvent> {
  /** `<service>.<question>`, for example `rooms.state`. */
  readonly name: string;
  /** Raised whenever the rows' shape or meaning changes: a new one is built beside the old and then served. */
  readonly version: number;
  readonly indexes: readonly IndexDescription[];
  /** See `OwnProjection`. */
  readonly debounceMs?: number;
  /** Kept up by a loop of its own, since it takes long: readers of the service's other models need not wait for it. */
  readonly isolated?: true;
  /** Secrets arrive sealed and are stored sealed. */
  readonly on: EventHandlers<RecordedEvent<Event>, readonly RowChange[]>;
}

/** Every build of every projection has it: the remains of removed rows go after a day. */
export const GONE_INDEX: IndexDescription = {
  key: { goneAt: 1 },
  name: 'gone',
  expireAfterSeconds: 86_400,
  // Nearly every row would stand in it for nothing, which is a third of what it costs to make one.
  sparse: true,
};

/** `rooms.state` at version 1 and run `k3x9` -> `rooms_state_v1_k3x9`. */
export const collectionName = (model: ReadModel, run: string): string =>
  `${buildsPrefix(model)}${model.version}_${run}`;

/** What the names of all its builds begin with, whatever their version. */
export const buildsPrefix = ({ name }: ReadModel): string => `${name.replaceAll('.', '_')}_v`;

/** Characters that an instant takes in a run. */
const TIME = 8;

/**
 * A run of a build that is begun at `now` (Unix ms): sorted behind `after`, whatever clocks say, and none that ever
 * was, by `fresh`, which is random. One of the same name that was dropped may be read, or written, somewhere still.
 */
export function newRun(after: string, now: number, fresh: string): string {
  const time = Math.max(now, after === '' ? 0 : Number.parseInt(after.slice(0, TIME), 36) + 1);
  return time.toString(36).padStart(TIME, '0') + fresh;
}

/** The run of a build, sortable by the time it was begun. */
export const runOf = (collection: string): string => collection.slice(collection.lastIndexOf('_') + 1);

/** The changes an event asks for, as writes that do nothing when they were done before. */
export function writesOf({ on }: AnyProjection, event: RecordedEvent): RowWrite[] {
  return (handlerFor(on, event)?.(event) ?? []).map((change) => positionGuarded(change, event));
}

/** Without this nobody would find what is put where a row was removed. */
const NOT_GONE = { gone: '', goneAt: '' } as const;

/** One change as a write that does nothing when it was done before. */
export function positionGuarded(change: RowChange, { position, recordedAt }: RecordedEvent): RowWrite {
  const at = longOf(position);
  const untouched = { $lt: at };
  if ('purge' in change) {
    const all = { filter: { ...change.purge, _at: untouched } };
    return change.many ? { deletePieces: all } : { deleteMany: all };
  }
  if ('remove' in change) {
    const replacement = { _at: at, gone: true as const, goneAt: new Date(recordedAt) };
    return { replaceOne: { filter: { _id: change.remove, _at: untouched }, replacement, upsert: true } };
  }
  if ('replace' in change) {
    const replacement = { _at: at, ...change.row };
    return { replaceOne: { filter: { _id: change.replace, _at: untouched }, replacement, upsert: true } };
  }
  if ('make' in change) return { insertOne: { document: { _id: change.make, _at: at, ...change.row } } };
  const $set = { ...change.update.$set, _at: at };
  if ('patch' in change) {
    const update = { ...change.update, $set } as UpdateFilter<Row>;
    return { updateOne: { filter: { _id: change.patch, _at: untouched }, update, upsert: false } };
  }
  const update = { ...change.update, $set, $unset: { ...change.update.$unset, ...NOT_GONE } };
  const filter = { _id: change.put, _at: untouched };
  return { updateOne: { filter, update: update as UpdateFilter<Row>, upsert: true } };
}

export const longOf = (position: Position): Long => Long.fromBigInt(position);

export type RowWrite = AnyBulkWriteOperation<Row> | Pieces;

/** What is deleted by as many calls as it takes. */
export interface Pieces {
  readonly deletePieces: { readonly filter: Filter<Row> };
}

/** Takes events in the order of the log; those that were applied before do nothing. */
export type Apply = (events: readonly RecordedEvent[]) => Promise<void>;

/** One build of a read model that keeps collections of its own: their names begin with the build's. */
export interface Build {
  readonly vault: Vault;
  collection<Document extends object>(part: string): Collection<Document>;
  /** Applies guarded writes in order; those already done do nothing. */
  write(part: string, writes: readonly RowWrite[]): Promise<void>;
  parts(): Promise<readonly string[]>;
  drop(part: string): Promise<void>;
}

/** A read model that one row an entity does not fit; it keeps the guarantees of a projection by itself. */
export interface OwnProjection {
  readonly name: string;
  readonly version: number;
  /** The events that it is made of, where it is not all of its service. */
  readonly types?: readonly string[];
  /** How many events it takes at once, where they are too large for the usual thousand. */
  readonly batchSize?: number;
  /** Events gather for so long, ms, unless somebody waits for them: where a write costs the same however many they are. */
  readonly debounceMs?: number;
  /** See `Projection`. */
  readonly isolated?: true;
  /** Makes what collections and indexes it needs. What `Apply` remembers is of this build and this leader. */
  open(build: Build): Promise<Apply>;
  /** Everything it says, by `_id`, in a form that is the same for every build of the same events. */
  scan(build: Build): AsyncIterable<Row>;
}

/** As it is run: by whoever knows no event. */
export type AnyProjection = Projection<DomainEvent>;

export type ReadModel = AnyProjection | OwnProjection;

/** The read models that one loop keeps up, under one lease. */
export interface ProjectorGroup {
  /** That of the service, or of the read model that is apart. */
  readonly name: string;
  readonly service: string;
  readonly projections: readonly ReadModel[];
}

export const groupOf = (model: Pick<ReadModel, 'name' | 'isolated'>): string =>
  model.isolated ? model.name : serviceOf(model.name);

/** The groups of a service's read models, in order. */
export function groupsOf(service: string, projections: readonly ReadModel[]): readonly ProjectorGroup[] {
  const names = [...new Set(projections.map(groupOf))];
  return names.map((name) => ({
    name,
    service,
    projections: projections.filter((each) => groupOf(each) === name),
  }));
}

/** The events that a read model is made of: where it says which, the store leaves out all others. */
export function selectionOf(model: ReadModel): Selection {
  const service = serviceOf(model.name);
  const types = 'open' in model ? model.types : Object.keys(model.on);
  return types ? { service, types } : { prefixes: [`${service}.`] };
}

/** How many events all of these can take at once. */
export function atOnceOf(models: readonly ReadModel[]): { readonly atOnce?: number } {
  const limits = models.flatMap((model) => ('open' in model ? (model.batchSize ?? []) : []));
  return limits.length > 0 ? { atOnce: Math.min(...limits) } : {};
}

/** How long events gather for all of these, while nobody waits; `least` of those that do not say. */
export const gatherMsOf = (models: readonly ReadModel[], least: number): number =>
  Math.min(...models.map(({ debounceMs = least }) => debounceMs));

/** The collections that builds of read models stand in. */
export interface Builds {
  /**
   * Makes the collections and indexes, if they are not there; answers what takes events into them. Nothing is
   * written without the lease: a leader that was paused would bring back rows that its successor has removed.
   */
  open(model: ReadModel, collection: string, lease: Pick<Lease, 'assertHeld'>): Promise<Apply>;
  /** All rows that are not gone, by `_id`. */
  scan(model: ReadModel, collection: string): AsyncIterable<Row>;
  list(prefix: string): Promise<readonly string[]>;
  /** About how many rows it has. */
  count(collection: string): Promise<number>;
  /** Of how many bytes its rows are: no more of them are read than it takes to come to `most`. */
  bytes(collection: string, most: number): Promise<number>;
  drop(collection: string): Promise<void>;
}
