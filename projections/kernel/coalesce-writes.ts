/** Joins the writes of a batch to one row: that a row is written anew costs more than what is new in it. */
import type { AnyBulkWriteOperation, Long } from 'mongodb';
import type { Row, RowWrite } from './projection.js';

/** One write, and those that it does the work of, in their order. */
export interface Merged {
  readonly write: RowWrite;
  readonly parts: readonly RowWrite[];
}

/** A row that everything touches is written again after so many: what one write does and holds stays small. */
const MOST_PARTS = 100;

/**
 * The same writes in fewer, to the same effect in this order. The guard of a merged one is that of its first part, so
 * it does nothing where the row has any of them: which are missing then is told by the row's `_at`.
 */
export function coalesceWrites(writes: readonly RowWrite[]): Merged[] {
  const merged: (Merged | RowUpdate)[] = [];
  const open = new Map<string, RowUpdate>();
  for (const write of writes) {
    const id = idOf(write);
    if (id !== undefined && mayBegin(write)) {
      if (open.get(id)?.take(write)) continue;
      const run = new RowUpdate(write);
      open.set(id, run);
      merged.push(run);
      continue;
    }
    merged.push({ write, parts: [write] });
    // What comes after this must not come before it, for rows that it may touch.
    if (id !== undefined) open.delete(id);
    else for (const [other, run] of open) if (mayAffect(write, run)) open.delete(other);
  }
  return merged.map((each) => (each instanceof RowUpdate ? each.merged() : each));
}

/** The one row that a write touches; undefined for what may touch many. */
export function idOf(write: RowWrite): string | undefined {
  const { _id } = 'insertOne' in write ? write.insertOne.document : (filterOf(write) ?? {});
  return typeof _id === 'string' ? _id : undefined;
}

/** The position of a write's event: rows that are as new have it. Undefined for what does no harm when done again. */
export const guardOf = (write: RowWrite): Long | undefined => (filterOf(write)?._at as Guard | undefined)?.$lt;

/** A patch of several parts that finds no row has nothing to do, or too much: only the row can tell. */
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

/** A row that is made, or an update of a row by its name and nothing else than the guard. */
const mayBegin = (write: RowWrite): boolean => 'insertOne' in write || guardedUpdate(write) !== undefined;

const guardedUpdate = (write: RowWrite): Update | undefined =>
  'updateOne' in write && guardOf(write) && Object.keys(write.updateOne.filter).length === 2
    ? write.updateOne
    : undefined;

/** The same as an update: of a row that is made, one that makes it. */
function asUpdate(write: RowWrite): Update {
  if (!('insertOne' in write)) return guardedUpdate(write)!;
  const { _id, ...row } = write.insertOne.document as Row;
  return { filter: { _id, _at: { $lt: row._at } }, update: { $set: row }, upsert: true };
}

/** False only where all rows that it touches have another value in a field that the run has just set, or left out. */
function mayAffect(write: RowWrite, run: RowUpdate): boolean {
  return !Object.entries(filterOf(write) ?? {}).some(([field, wanted]) => {
    if (!isScalar(wanted)) return false;
    const [operator, value] = run.operations.get(field) ?? [];
    if (operator === undefined) return run.isMade && field !== '_id' && !field.includes('.');
    return operator === '$set' && isScalar(value) && value !== wanted;
  });
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

/** Updates of one row, joined operator by operator. */
class RowUpdate {
  readonly #parts: RowWrite[];
  #first: Update | undefined;
  #operations: Map<string, Operation> | undefined;
  /** What paths of operations lie below. */
  readonly #above = new Set<string>();

  constructor(write: RowWrite) {
    this.#parts = [write];
  }

  /** All that is in the row comes of this. */
  get isMade(): boolean {
    return 'insertOne' in this.#parts[0]!;
  }

  get #begin(): Update {
    this.#first ??= asUpdate(this.#parts[0]!);
    return this.#first;
  }

  /** Of all parts together; not asked for where nothing else is done to the row, as of most that are made. */
  get operations(): ReadonlyMap<string, Operation> {
    if (!this.#operations) {
      this.#operations = new Map();
      this.#join(operationsOf(this.#begin));
    }
    return this.#operations;
  }

  /** False when the next write can't be joined to those before it; then it is not. */
  take(write: RowWrite): boolean {
    if (this.#parts.length >= MOST_PARTS || 'insertOne' in write) return false;
    const update = asUpdate(write);
    // The row may be missing for what only changes it, and is made by this one.
    if (update.upsert && !this.#begin.upsert) return false;
    const operations = this.operations;
    const joined: [string, Operation][] = [];
    for (const [path, operation] of operationsOf(update)) {
      // The row is there by now, or was not made by a patch before and is not by this one.
      if (operation[0] === '$setOnInsert') continue;
      const known = operations.get(path);
      const both = known ? join(path, known, operation) : this.#overlaps(path) ? undefined : operation;
      if (!both) return false;
      joined.push([path, both]);
    }
    this.#parts.push(write);
    this.#join(joined);
    return true;
  }

  #join(operations: readonly (readonly [string, Operation])[]) {
    for (const [path, operation] of operations) {
      this.#operations!.set(path, operation);
      for (const prefix of prefixesOf(path)) this.#above.add(prefix);
    }
  }

  /** Whether another operation is on a part of what is at this path, or on a whole that it is a part of. */
  #overlaps(path: string): boolean {
    return this.#above.has(path) || prefixesOf(path).some((prefix) => this.operations.has(prefix));
  }

  merged(): Merged {
    const [only] = this.#parts;
    if (only && this.#parts.length === 1) return { write: only, parts: this.#parts };
    const row = this.isMade && rowOf(this.operations);
    if (row) {
      const { _id } = this.#begin.filter as Row;
      return { write: { insertOne: { document: { _id, ...row } as Row } }, parts: this.#parts };
    }
    const update: { [operator: string]: { [path: string]: unknown } } = {};
    for (const [path, [operator, value]] of this.operations) {
      update[operator] ??= {};
      update[operator][path] = value;
    }
    return { write: { updateOne: { ...this.#begin, update } }, parts: this.#parts };
  }
}

/** What they make where there is nothing; undefined where only the store can tell. An insert is half of what an upsert costs. */
function rowOf(operations: ReadonlyMap<string, Operation>): { [field: string]: unknown } | undefined {
  const row: { [field: string]: unknown } = {};
  for (const [path, [operator, value]] of operations) {
    const made = operator === '$push' ? pushed(value) : operator === '$set' ? value : undefined;
    if (path.includes('.') || (made === undefined && operator !== '$unset')) return undefined;
    if (operator !== '$unset') row[path] = made;
  }
  return row;
}

const operationsOf = ({ update }: Update): [string, Operation][] =>
  Object.entries(update as Operators).flatMap(([operator, fields]) =>
    // Those that are undefined the driver leaves out.
    Object.entries(fields).flatMap(([path, value]): [string, Operation][] =>
      value === undefined ? [] : [[path, [operator, value]]],
    ),
  );

function prefixesOf(path: string): string[] {
  const prefixes = [];
  for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) prefixes.push(path.slice(0, dot));
  return prefixes;
}

/** Both operations on a path as one; undefined where no one operation does the same. */
function join(path: string, [first, a]: Operation, [second, b]: Operation): Operation | undefined {
  if (second === '$set') return ['$set', b];
  // Deeper down, what is set leaves objects on its way that would not be there.
  if (second === '$unset') return path.includes('.') ? undefined : ['$unset', b];
  if (second === '$push') return joinPush(first, a, b);
  if (first !== second) return undefined;
  if (second === '$inc') return joinInc(a, b);
  return second === '$pull' ? joinPull(a, b) : undefined;
}

function joinPush(first: string, a: unknown, b: unknown): Operation | undefined {
  const added = pushed(b);
  const before = first === '$push' ? pushed(a) : first === '$set' && Array.isArray(a) ? a : undefined;
  if (!added || !before) return undefined;
  const all = [...before, ...added];
  return first === '$push' ? ['$push', { $each: all }] : ['$set', all];
}

/** What a `$push` adds; undefined where it does more than that. */
function pushed(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return [value];
  const [name, ...more] = Object.keys(value);
  if (!name?.startsWith('$')) return [value];
  return name === '$each' && more.length === 0 ? (value as { readonly $each: unknown[] }).$each : undefined;
}

/** Fractions are not the same added in another order, nor are integers that overflow on their way. */
function joinInc(a: unknown, b: unknown): Operation | undefined {
  const [one, other] = [Number(a), Number(b)];
  const same = [one, other, one + other].every(isInt32) && one >= 0 === other >= 0;
  return same ? ['$inc', one + other] : undefined;
}

const isInt32 = (value: number) => (value | 0) === value;

/** What is let go up to a value goes with what is let go up to a later one. */
function joinPull(a: unknown, b: unknown): Operation | undefined {
  const [earlier, later] = [upTo(a), upTo(b)];
  if (!earlier || earlier.field !== later?.field) return undefined;
  return ['$pull', later.most >= earlier.most ? b : a];
}

/** Of a condition that is `{ field: { $lte: number } }`, and nothing else. */
function upTo(condition: unknown): { readonly field: string; readonly most: number } | undefined {
  const [[field, test], ...more] = entriesOf(condition);
  const [[operator, most], ...others] = entriesOf(test);
  if (more.length + others.length > 0 || operator !== '$lte' || typeof most !== 'number') return undefined;
  return { field, most };
}

const entriesOf = (value: unknown): [[string, unknown], ...[string, unknown][]] => {
  const [first = ['', undefined] as [string, unknown], ...more] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [first, ...more];
};
