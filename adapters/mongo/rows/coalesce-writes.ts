/** Coalesces the writes of a batch to one row, because rewriting a row costs more than its changes. */
import type { Long } from 'mongodb';
import type { Row, RowWrite } from '../../../projections/kernel/index.js';

/** Merged write with the writes it replaces, in order. */
export interface Merged {
  readonly write: RowWrite;
  readonly parts: readonly RowWrite[];
}

/** Writes merged into one at most, to limit its size. */
const MAX_PARTS = 100;

/** `$push` with all its items. Other operators are not merged, because projections rarely use them. */
type Operation = readonly ['$set' | '$unset', unknown] | readonly ['$push', readonly unknown[]];
type Operations = Map<string, Operation>;

/** Writes to be merged, and what they do to their row, by field. */
interface Group {
  readonly parts: RowWrite[];
  readonly operations: Operations | undefined;
}

/**
 * Merges writes without changing their effect. The guard of a merged write is that of its first part, so it does
 * nothing if the row has any of its parts already; the row's `_at` then tells which parts are missing.
 */
export function coalesceWrites(writes: readonly RowWrite[]): Merged[] {
  const groups: Group[] = [];
  const open = new Map<string, Group>();
  for (const write of writes) {
    const id = idOf(write);
    const operations = operationsOf(write);
    const group = id === undefined ? undefined : open.get(id);
    if (group && operations && addTo(group, write, operations)) continue;
    const next = { parts: [write], operations };
    groups.push(next);
    // Later writes to rows that this one may affect must not be moved before it.
    if (id === undefined) for (const [other, each] of open) if (mayAffect(write, each)) open.delete(other);
    if (id !== undefined && operations) open.set(id, next);
    else if (id !== undefined) open.delete(id);
  }
  return groups.map(mergedWrite);
}

/** Returns the id of the only row a write affects; undefined if it may affect many. */
export function idOf(write: RowWrite): string | undefined {
  const { _id } = 'insertOne' in write ? write.insertOne.document : (filterOf(write) ?? {});
  return typeof _id === 'string' ? _id : undefined;
}

/** Returns the position of a write's event, from its guard; undefined for writes without one, which are idempotent. */
export const guardOf = (write: RowWrite): Long | undefined => (filterOf(write)?._at as Guard | undefined)?.$lt;

/** Whether a merged patch that matches no row is ambiguous: the row may be missing, or have some of its parts. */
export const isUncertain = ({ write, parts }: Merged): boolean => parts.length > 1 && !createsRow(write);

interface Guard {
  readonly $lt: Long;
}

function filterOf(write: RowWrite): { readonly [field: string]: unknown } | undefined {
  const [operation] = Object.values(write) as { readonly filter?: { readonly [field: string]: unknown } }[];
  return operation?.filter;
}

const createsRow = (write: RowWrite): boolean =>
  'insertOne' in write || ('updateOne' in write && write.updateOne.upsert === true);

/** Returns what a write does to its row; undefined if it cannot be merged. */
function operationsOf(write: RowWrite): Operations | undefined {
  if ('insertOne' in write) {
    const { _id, ...row } = write.insertOne.document;
    return new Map(Object.entries(row).map(([field, value]) => [field, ['$set', value]]));
  }
  if (!('updateOne' in write) || !guardOf(write) || Object.keys(write.updateOne.filter).length !== 2) return undefined;
  const operations: Operations = new Map();
  for (const [operator, fields] of Object.entries(write.updateOne.update))
    for (const [path, value] of Object.entries(fields as object)) {
      // The driver omits undefined values.
      if (value === undefined) continue;
      const operation = operationOf(operator, value);
      if (!operation || path.includes('.')) return undefined;
      operations.set(path, operation);
    }
  return operations;
}

function operationOf(operator: string, value: unknown): Operation | undefined {
  if (operator === '$set' || operator === '$unset') return [operator, value];
  if (operator !== '$push') return undefined;
  const [modifier, ...others] = Object.keys(Object(value)).filter((name) => name.startsWith('$'));
  if (modifier === undefined) return [operator, [value]];
  return modifier === '$each' && others.length === 0 ? [operator, (value as { $each: unknown[] }).$each] : undefined;
}

/** Adds a write; returns false, changing nothing, if it cannot be merged. */
function addTo({ parts, operations }: Group, write: RowWrite, added: Operations): boolean {
  if (!operations || parts.length >= MAX_PARTS || 'insertOne' in write) return false;
  // The earlier patches may find no row, which this upsert would create.
  if (createsRow(write) && !createsRow(parts[0]!)) return false;
  const merged = [...added].map(
    ([field, operation]) => [field, mergeOperations(operations.get(field), operation)] as const,
  );
  if (merged.some(([, operation]) => !operation)) return false;
  for (const [field, operation] of merged) operations.set(field, operation!);
  parts.push(write);
  return true;
}

/** Merges two operations on a field; undefined if no single operation is equivalent. */
function mergeOperations(first: Operation | undefined, second: Operation): Operation | undefined {
  if (!first || second[0] !== '$push') return second;
  const [operator, value] = first;
  return Array.isArray(value) ? [operator, [...value, ...second[1]]] : undefined;
}

/** Whether a filter may match the row of a group; false if a field the group has set or omitted differs. */
function mayAffect(write: RowWrite, { parts, operations }: Group): boolean {
  return !Object.entries(filterOf(write) ?? {}).some(([field, expected]) => {
    if (!isScalar(expected)) return false;
    const [operator, value] = operations?.get(field) ?? [];
    if (operator === undefined) return 'insertOne' in parts[0]! && !field.includes('.');
    return operator === '$set' && isScalar(value) && value !== expected;
  });
}

const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number';

function mergedWrite({ parts, operations }: Group): Merged {
  const write = parts[0]!;
  if (parts.length === 1 || !operations) return { write, parts };
  if ('insertOne' in write) {
    const row = [...operations]
      .filter(([, [operator]]) => operator !== '$unset')
      .map(([field, [, value]]) => [field, value]);
    const { _id } = write.insertOne.document;
    return { write: { insertOne: { document: { _id, ...Object.fromEntries(row) } as Row } }, parts };
  }
  const update: { [operator: string]: { [field: string]: unknown } } = {};
  for (const [field, [operator, value]] of operations) {
    update[operator] ??= {};
    update[operator][field] = operator === '$push' ? { $each: value } : value;
  }
  return 'updateOne' in write ? { write: { updateOne: { ...write.updateOne, update } }, parts } : { write, parts };
}
