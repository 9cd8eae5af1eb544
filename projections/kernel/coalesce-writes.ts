/** Coalesces the writes of a batch to one row, because rewriting a row costs more than its changes. */
import type { AnyBulkWriteOperation, Long } from 'mongodb';
import type { Row, RowWrite } from './projection.js';

/** Merged write with the writes it replaces, in order. */
export interface Merged {
  readonly write: RowWrite;
  readonly parts: readonly RowWrite[];
}

/** Writes merged into one at most, to limit its size. */
const MAX_PARTS = 100;

/**
 * Merges writes without changing their effect. The guard of a merged write is that of its first part, so it does
 * nothing if the row has any of its parts already; the row's `_at` then tells which parts are missing.
 */
export function coalesceWrites(writes: readonly RowWrite[]): Merged[] {
  const merged: (Merged | WriteMerger)[] = [];
  const open = new Map<string, WriteMerger>();
  for (const write of writes) {
    const id = idOf(write);
    if (id !== undefined && isMergeable(write)) {
      if (open.get(id)?.add(write)) continue;
      const merger = new WriteMerger(write);
      open.set(id, merger);
      merged.push(merger);
      continue;
    }
    merged.push({ write, parts: [write] });
    // Later writes to rows that this one may affect must not be moved before it.
    if (id !== undefined) open.delete(id);
    else for (const [other, merger] of open) if (mayAffect(write, merger)) open.delete(other);
  }
  return merged.map((each) => (each instanceof WriteMerger ? each.merged() : each));
}

/** Returns the id of the only row a write affects; undefined if it may affect many. */
export function idOf(write: RowWrite): string | undefined {
  const { _id } = 'insertOne' in write ? write.insertOne.document : (filterOf(write) ?? {});
  return typeof _id === 'string' ? _id : undefined;
}

/** Returns the position of a write's event, from its guard; undefined for writes without one, which are idempotent. */
export const guardOf = (write: RowWrite): Long | undefined => (filterOf(write)?._at as Guard | undefined)?.$lt;

/** Whether a merged patch that matches no row is ambiguous: the row may be missing, or have some of its parts. */
export const isUncertain = ({ write, parts }: Merged): boolean =>
  parts.length > 1 && 'updateOne' in write && !write.updateOne.upsert;

interface Guard {
  readonly $lt: Long;
}

type Update = Extract<AnyBulkWriteOperation<Row>, { updateOne: unknown }>['updateOne'];
type Operators = { readonly [operator: string]: { readonly [path: string]: unknown } };
type Operation = readonly [operator: string, value: unknown];

function filterOf(write: RowWrite): { readonly [field: string]: unknown } | undefined {
  const [operation] = Object.values(write) as { readonly filter?: { readonly [field: string]: unknown } }[];
  return operation?.filter;
}

/** Whether a write inserts a row, or updates one by id and guard only. */
const isMergeable = (write: RowWrite): boolean => 'insertOne' in write || guardedUpdate(write) !== undefined;

const guardedUpdate = (write: RowWrite): Update | undefined =>
  'updateOne' in write && guardOf(write) && Object.keys(write.updateOne.filter).length === 2
    ? write.updateOne
    : undefined;

/** Converts a mergeable write to an update; an insert becomes an upsert. */
function asUpdate(write: RowWrite): Update {
  if (!('insertOne' in write)) return guardedUpdate(write)!;
  const { _id, ...row } = write.insertOne.document as Row;
  return { filter: { _id, _at: { $lt: row._at } }, update: { $set: row }, upsert: true };
}

/** Whether a filter may match the row of a merger; false if a field the merger has set or omitted differs. */
function mayAffect(write: RowWrite, merger: WriteMerger): boolean {
  return !Object.entries(filterOf(write) ?? {}).some(([field, expected]) => {
    if (!isScalar(expected)) return false;
    const [operator, value] = merger.operations.get(field) ?? [];
    if (operator === undefined) return merger.isInsert && field !== '_id' && !field.includes('.');
    return operator === '$set' && isScalar(value) && value !== expected;
  });
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

/** Merges updates of one row, operator by operator. */
class WriteMerger {
  readonly #parts: RowWrite[];
  #first: Update | undefined;
  #operations: Map<string, Operation> | undefined;
  /** All proper prefixes of the paths in `operations`. */
  readonly #prefixes = new Set<string>();

  constructor(write: RowWrite) {
    this.#parts = [write];
  }

  /** Whether the whole row comes from this write. */
  get isInsert(): boolean {
    return 'insertOne' in this.#parts[0]!;
  }

  get #firstUpdate(): Update {
    this.#first ??= asUpdate(this.#parts[0]!);
    return this.#first;
  }

  /** Operations of all parts by path. Computed lazily, as most rows have only one write. */
  get operations(): ReadonlyMap<string, Operation> {
    if (!this.#operations) {
      this.#operations = new Map();
      this.#addOperations(operationsOf(this.#firstUpdate));
    }
    return this.#operations;
  }

  /** Adds a write; returns false, changing nothing, if it cannot be merged. */
  add(write: RowWrite): boolean {
    if (this.#parts.length >= MAX_PARTS || 'insertOne' in write) return false;
    const update = asUpdate(write);
    // The earlier patches may find no row, which this upsert would create.
    if (update.upsert && !this.#firstUpdate.upsert) return false;
    const operations = this.operations;
    const mergedOperations: [string, Operation][] = [];
    for (const [path, operation] of operationsOf(update)) {
      // The row exists after an upsert; and patches never create one.
      if (operation[0] === '$setOnInsert') continue;
      const existing = operations.get(path);
      const merged = existing
        ? mergeOperations(path, existing, operation)
        : this.#overlaps(path)
          ? undefined
          : operation;
      if (!merged) return false;
      mergedOperations.push([path, merged]);
    }
    this.#parts.push(write);
    this.#addOperations(mergedOperations);
    return true;
  }

  #addOperations(operations: readonly (readonly [string, Operation])[]) {
    for (const [path, operation] of operations) {
      this.#operations!.set(path, operation);
      for (const prefix of prefixesOf(path)) this.#prefixes.add(prefix);
    }
  }

  /** Whether another operation affects a parent or child of this path. */
  #overlaps(path: string): boolean {
    return this.#prefixes.has(path) || prefixesOf(path).some((prefix) => this.operations.has(prefix));
  }

  merged(): Merged {
    const [only] = this.#parts;
    if (only && this.#parts.length === 1) return { write: only, parts: this.#parts };
    const row = this.isInsert && rowOf(this.operations);
    if (row) {
      const { _id } = this.#firstUpdate.filter as Row;
      return { write: { insertOne: { document: { _id, ...row } as Row } }, parts: this.#parts };
    }
    const update: { [operator: string]: { [path: string]: unknown } } = {};
    for (const [path, [operator, value]] of this.operations) {
      update[operator] ??= {};
      update[operator][path] = value;
    }
    return { write: { updateOne: { ...this.#firstUpdate, update } }, parts: this.#parts };
  }
}

/** Computes the row that operations create; undefined if only the store can. An insert costs half of an upsert. */
function rowOf(operations: ReadonlyMap<string, Operation>): { [field: string]: unknown } | undefined {
  const row: { [field: string]: unknown } = {};
  for (const [path, [operator, value]] of operations) {
    const fieldValue = operator === '$push' ? pushedItems(value) : operator === '$set' ? value : undefined;
    if (path.includes('.') || (fieldValue === undefined && operator !== '$unset')) return undefined;
    if (operator !== '$unset') row[path] = fieldValue;
  }
  return row;
}

const operationsOf = ({ update }: Update): [string, Operation][] =>
  Object.entries(update as Operators).flatMap(([operator, fields]) =>
    // The driver omits undefined values.
    Object.entries(fields).flatMap(([path, value]): [string, Operation][] =>
      value === undefined ? [] : [[path, [operator, value]]],
    ),
  );

function prefixesOf(path: string): string[] {
  const prefixes = [];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) prefixes.push(path.slice(0, dot));
  return prefixes;
}

/** Merges two operations on a path; undefined if no single operation is equivalent. */
function mergeOperations(path: string, [first, a]: Operation, [second, b]: Operation): Operation | undefined {
  if (second === '$set') return ['$set', b];
  // A nested `$set` creates parent objects, which `$unset` alone would not.
  if (second === '$unset') return path.includes('.') ? undefined : ['$unset', b];
  if (second === '$push') return mergePush(first, a, b);
  if (first !== second) return undefined;
  if (second === '$inc') return mergeInc(a, b);
  return second === '$pull' ? mergePull(a, b) : undefined;
}

function mergePush(first: string, a: unknown, b: unknown): Operation | undefined {
  const added = pushedItems(b);
  const before = first === '$push' ? pushedItems(a) : first === '$set' && Array.isArray(a) ? a : undefined;
  if (!added || !before) return undefined;
  const all = [...before, ...added];
  return first === '$push' ? ['$push', { $each: all }] : ['$set', all];
}

/** Returns the items a `$push` adds; undefined if it has modifiers. */
function pushedItems(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return [value];
  const [name, ...more] = Object.keys(value);
  if (!name?.startsWith('$')) return [value];
  return name === '$each' && more.length === 0 ? (value as { readonly $each: unknown[] }).$each : undefined;
}

/** Merges only int32 additions of equal sign: fractions and overflowing integers depend on the order. */
function mergeInc(a: unknown, b: unknown): Operation | undefined {
  const [one, other] = [Number(a), Number(b)];
  const same = [one, other, one + other].every(isInt32) && one >= 0 === other >= 0;
  return same ? ['$inc', one + other] : undefined;
}

const isInt32 = (value: number) => (value | 0) === value;

/** Merges two removals of items up to a value: the higher one includes the other. */
function mergePull(a: unknown, b: unknown): Operation | undefined {
  const [earlier, later] = [upperBound(a), upperBound(b)];
  if (!earlier || earlier.field !== later?.field) return undefined;
  return ['$pull', later.max >= earlier.max ? b : a];
}

/** Parses a condition of the form `{ field: { $lte: number } }`; undefined for any other. */
function upperBound(condition: unknown): { readonly field: string; readonly max: number } | undefined {
  const [[field, test], ...more] = entriesOf(condition);
  const [[operator, max], ...others] = entriesOf(test);
  if (more.length + others.length > 0 || operator !== '$lte' || typeof max !== 'number') return undefined;
  return { field, max };
}

const entriesOf = (value: unknown): [[string, unknown], ...[string, unknown][]] => {
  const [first = ['', undefined] as [string, unknown], ...more] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [first, ...more];
};
