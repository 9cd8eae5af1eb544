/** Computes the keys of a document in an index: one, or one per element of an array on the path. */
import { createHash } from 'node:crypto';
import { elementsOf, fieldNamed, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import type { Path } from '../query/path.js';

/** Value of a key field; an empty array has the type `undefined`, a missing field is undefined itself. */
type FieldValue = Value | undefined;

const EMPTY_ARRAY: Value = { type: Type.undefined, bytes: Buffer.alloc(0), start: 0, end: 0 };

/** Progress along a path: the value reached after `depth` parts. */
interface PathState {
  readonly value: FieldValue;
  readonly depth: number;
}

/** Values of each index entry of a document, and which fields were reached through an array. */
export interface Entries {
  readonly rows: readonly (readonly FieldValue[])[];
  readonly multikey: readonly boolean[];
}

/** Maximum entries of a document in one index; a write creates them in one go. */
export const MAX_ENTRIES = 100_000;

/** Returns all entries. Errors: 171 if two fields meet different arrays, 201 above `maxEntries`. */
export function entriesOf(document: Value, paths: readonly Path[], maxEntries = MAX_ENTRIES): Entries {
  const rows: FieldValue[][] = [];
  const multikey = paths.map(() => false);
  expand(
    paths.map(() => ({ value: document, depth: 0 })),
    paths,
    rows,
    multikey,
    maxEntries,
  );
  return { rows, multikey };
}

function expand(
  states: readonly PathState[],
  paths: readonly Path[],
  rows: FieldValue[][],
  multikey: boolean[],
  maxEntries: number,
): void {
  const ends = states.map((state, i) => descend(state, paths[i]!));
  let array: Value | undefined;
  let arrayFields: readonly number[] = [];
  for (let i = 0; i < ends.length; i++) {
    const { value, depth } = ends[i]!;
    // An array inside an array is an ordinary value.
    if (value?.type !== Type.array || depth > paths[i]!.parts.length) continue;
    if (!array) array = value;
    else if (array.start !== value.start || array.bytes !== value.bytes)
      throw new CommandError(
        171,
        `cannot index parallel arrays [${paths[i]!.parts[depth - 1]!.name}] [${paths[arrayFields[0]!]!.parts[ends[arrayFields[0]!]!.depth - 1]!.name}]`,
      );
    arrayFields = [...arrayFields, i];
  }
  if (!array) {
    if (rows.length >= maxEntries) throw new CommandError(201, 'Maximum number of generated keys exceeded.');
    rows.push(ends.map(({ value, depth }, i) => (depth >= paths[i]!.parts.length ? value : undefined)));
    return;
  }
  for (const i of arrayFields) multikey[i] = true;
  const elements = elementsOf(array);
  const enterElement = (i: number, element: FieldValue): PathState => {
    const { depth } = ends[i]!;
    const length = paths[i]!.parts.length;
    if (depth === length) return { value: element, depth: length + 1 };
    return element?.type === Type.object ? { value: element, depth } : { value: undefined, depth: length + 1 };
  };
  const expandElement = (element: FieldValue) =>
    expand(
      ends.map((state, i) => (arrayFields.includes(i) ? enterElement(i, element) : state)),
      paths,
      rows,
      multikey,
      maxEntries,
    );
  if (elements.length === 0) expandElement(EMPTY_ARRAY);
  else for (const element of elements) expandElement(element);
}

/** Follows a path through objects to its end or to an array. */
function descend(state: PathState, path: Path): PathState {
  let { value, depth } = state;
  for (; depth < path.parts.length; depth++) {
    if (value?.type === Type.array) break;
    if (value?.type !== Type.object) return { value: undefined, depth: path.parts.length };
    value = fieldNamed(value, path.parts[depth]!.bytes);
  }
  return { value, depth };
}

/** Maximum bytes of a key stored whole. A longer key is truncated and ends with a digest that distinguishes it. */
const MAX_KEY = 900;

/** True if a key must be truncated; its order is then correct only up to the truncation. */
export const isLong = ({ length }: Buffer): boolean => length > MAX_KEY;

/** Key as stored; equal only for equal keys. */
export function storedKey(key: Buffer): Buffer {
  if (!isLong(key)) return key;
  return Buffer.concat([key.subarray(0, MAX_KEY - 32), createHash('sha256').update(key).digest()]);
}

/** Lower bound that includes all stored keys at or above `key`, even truncated ones. */
export const cutBound = (key: Buffer): Buffer => (isLong(key) ? key.subarray(0, MAX_KEY - 32) : key);
