/** Coalesces the writes of a batch to one row, because rewriting a row costs more than its changes. */
import type { Long } from 'mongodb';
import type { RowWrite } from '../../../projections/kernel/index.js';

/** Merged write with the writes it replaces, in order. */
export interface Merged {
  readonly write: RowWrite;
  readonly parts: readonly RowWrite[];
}

/** Writes merged into one at most, to limit its size. */
const MAX_PARTS = 100;

/** `$push` with all its items. Other operators are not merged, because projections rarely use them. */
type Operation = readonly ['$set' | '$unset', unknown] | readonly ['$push', readonly unknown[]];

/** Writes to be merged, and what they do to their row, by field. */
interface Group {
  readonly parts: RowWrite[];
  readonly operations: Map<string, Operation>;
}

/**
 * Merges `put`s of a row with the updates that follow. The guard of a merged write is that of its first part, so it
 * collides with the row if that has any of its parts already; the row's `_at` then tells which parts are missing.
 */
export function coalesceWrites(writes: readonly RowWrite[]): Merged[] {
  const groups: { readonly parts: RowWrite[]; readonly operations?: Map<string, Operation> | undefined }[] = [];
  /** Groups that take further writes, by row. */
  const open = new Map<string, Group>();
  for (const write of writes) {
    const id = idOf(write);
    const operations = operationsOf(write);
    const group = open.get(id ?? '');
    if (group && operations && addTo(group, write, operations)) continue;
    const next = { parts: [write], operations };
    groups.push(next);
    // Later writes to rows that this one may affect must not be moved before it.
    if (id === undefined) {
      for (const [other, each] of open) if (mayAffect(write, each)) open.delete(other);
    } else if (operations && isUpsert(write)) open.set(id, { ...next, operations });
    else open.delete(id);
  }
  return groups.map(mergedWrite);
}

/** Returns the id of the only row a write affects; undefined if it may affect many. */
export function idOf(write: RowWrite): string | undefined {
  const { _id } = 'insertOne' in write ? write.insertOne.document : (filterOf(write) ?? {});
  return typeof _id === 'string' ? _id : undefined;
}

/** Returns the position of a write's event, from its guard; undefined for writes without one, which are idempotent. */
export const guardOf = (write: RowWrite): Long | undefined =>
  (filterOf(write)?._at as { readonly $lt: Long } | undefined)?.$lt;

function filterOf(write: RowWrite): { readonly [field: string]: unknown } | undefined {
  const [operation] = Object.values(write) as { readonly filter?: { readonly [field: string]: unknown } }[];
  return operation?.filter;
}

const isUpsert = (write: RowWrite): boolean => 'updateOne' in write && write.updateOne.upsert === true;

/** Returns what an update does to its row; undefined if the write cannot be merged. */
function operationsOf(write: RowWrite): Map<string, Operation> | undefined {
  if (!('updateOne' in write) || !guardOf(write) || Object.keys(write.updateOne.filter).length !== 2) return undefined;
  const operations = new Map<string, Operation>();
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
  // Modifiers such as `$each` start with a dollar sign.
  return Object.keys(Object(value)).some((name) => name.startsWith('$')) ? undefined : [operator, [value]];
}

/** Adds a write; returns false, changing nothing, if it cannot be merged. */
function addTo({ parts, operations }: Group, write: RowWrite, added: ReadonlyMap<string, Operation>): boolean {
  if (parts.length >= MAX_PARTS) return false;
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

/** Whether a filter may match the row of a group; false if the group sets one of its fields to another text. */
const mayAffect = (write: RowWrite, { operations }: Group): boolean =>
  !Object.entries(filterOf(write) ?? {}).some(([field, expected]) => {
    const [operator, value] = operations.get(field) ?? [];
    return operator === '$set' && typeof value === 'string' && typeof expected === 'string' && value !== expected;
  });

function mergedWrite({ parts, operations = new Map() }: Partial<Group> & Pick<Group, 'parts'>): Merged {
  const write = parts[0]!;
  if (parts.length === 1 || !('updateOne' in write)) return { write, parts };
  const update: { [operator: string]: { [field: string]: unknown } } = {};
  for (const [field, [operator, value]] of operations) {
    update[operator] ??= {};
    update[operator][field] = operator === '$push' ? { $each: value } : value;
  }
  return { write: { updateOne: { ...write.updateOne, update } }, parts };
}
