/** Names of fields, from the records that are loaded: the service has no list of them. */
import { ExactNumber } from '../api/exact-json.js';
import type { Entry } from '../contract.js';

/** Records looked at, newest first as they are shown. */
const MAX_LOOKED_AT = 1000;
const MAX_FIELDS = 200;
const MAX_DEPTH = 6;

export interface FieldName {
  readonly path: string;
  /** Loaded records that have it. */
  readonly count: number;
}

export const isLeaf = (value: unknown): value is string | number | boolean | null =>
  typeof value !== 'object' || value === null || value instanceof ExactNumber;

/** Dotted paths of the scalars of a value; elements of an array share the path of the array. */
export function leafPaths(value: unknown, path = '', depth = 0): readonly string[] {
  if (isLeaf(value)) return path === '' ? [] : [path];
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((each) => leafPaths(each, path, depth + 1));
  return Object.entries(value as object).flatMap(([name, each]) =>
    leafPaths(each, path === '' ? name : `${path}.${name}`, depth + 1),
  );
}

/** Scalars at a dotted path, as texts; names of members may have dots themselves. */
export function valuesAt(value: unknown, path: string, depth = 0): readonly string[] {
  if (isLeaf(value)) return path === '' ? [String(value)] : [];
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((each) => valuesAt(each, path, depth + 1));
  return Object.entries(value as object).flatMap(([name, each]) => {
    if (path === name) return valuesAt(each, '', depth + 1);
    return path.startsWith(`${name}.`) ? valuesAt(each, path.slice(name.length + 1), depth + 1) : [];
  });
}

/** Fields by how many of the loaded records have them. */
export function fieldsOf(entries: readonly Entry[]): readonly FieldName[] {
  const counts = new Map<string, number>();
  for (const { data } of entries.slice(0, MAX_LOOKED_AT))
    for (const path of new Set(leafPaths(data))) counts.set(path, (counts.get(path) ?? 0) + 1);
  return [...counts]
    .map(([path, count]) => ({ path, count }))
    .sort((a, b) => b.count - a.count || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_FIELDS);
}

/** How many records `fieldsOf` looks at. */
export const lookedAt = (entries: readonly Entry[]): number => Math.min(entries.length, MAX_LOOKED_AT);
