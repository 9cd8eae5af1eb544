/** Which keys a document has in an index: one, or one for each element of an array on the way. */
import { createHash } from 'node:crypto';
import { elementsOf, fieldNamed, Type, type Value } from '../bson/value.js';
import { CommandError } from '../errors.js';
import type { Path } from '../query/path.js';

/** A key field's value; an empty array has `undefined` as its type, a missing field is undefined itself. */
type Found = Value | undefined;

const EMPTY_ARRAY: Value = { type: Type.undefined, bytes: Buffer.alloc(0), start: 0, end: 0 };

/** Where one field stands: the value reached after `depth` parts of its path. */
interface Reached {
  readonly value: Found;
  readonly depth: number;
}

/** The values of each index entry of a document, and which fields were reached through an array. */
export interface Entries {
  readonly rows: readonly (readonly Found[])[];
  readonly multikey: readonly boolean[];
}

/** The most entries of a document in an index that a write may make: it makes them in one go. */
export const MOST_ENTRIES = 100_000;

/** All entries. Errors: 171 when two fields meet different arrays, 201 when there are more than `most`. */
export function entriesOf(document: Value, paths: readonly Path[], most = MOST_ENTRIES): Entries {
  const rows: Found[][] = [];
  const multikey = paths.map(() => false);
  expand(
    paths.map(() => ({ value: document, depth: 0 })),
    paths,
    rows,
    multikey,
    most,
  );
  return { rows, multikey };
}

function expand(
  states: readonly Reached[],
  paths: readonly Path[],
  rows: Found[][],
  multikey: boolean[],
  most: number,
): void {
  const reached = states.map((state, i) => descend(state, paths[i]!));
  let array: Value | undefined;
  let at: readonly number[] = [];
  for (let i = 0; i < reached.length; i++) {
    const { value, depth } = reached[i]!;
    // An array met as an element of an array is a value like any other.
    if (value?.type !== Type.array || depth > paths[i]!.parts.length) continue;
    if (!array) array = value;
    else if (array.start !== value.start || array.bytes !== value.bytes)
      throw new CommandError(
        171,
        `cannot index parallel arrays [${paths[i]!.parts[depth - 1]!.name}] [${paths[at[0]!]!.parts[reached[at[0]!]!.depth - 1]!.name}]`,
      );
    at = [...at, i];
  }
  if (!array) {
    if (rows.length >= most) throw new CommandError(201, 'Maximum number of generated keys exceeded.');
    rows.push(reached.map(({ value, depth }, i) => (depth >= paths[i]!.parts.length ? value : undefined)));
    return;
  }
  for (const i of at) multikey[i] = true;
  const elements = elementsOf(array);
  const into = (i: number, element: Found): Reached => {
    const { depth } = reached[i]!;
    const length = paths[i]!.parts.length;
    if (depth === length) return { value: element, depth: length + 1 };
    return element?.type === Type.object ? { value: element, depth } : { value: undefined, depth: length + 1 };
  };
  const fan = (element: Found) =>
    expand(
      reached.map((state, i) => (at.includes(i) ? into(i, element) : state)),
      paths,
      rows,
      multikey,
      most,
    );
  if (elements.length === 0) fan(EMPTY_ARRAY);
  else for (const element of elements) fan(element);
}

/** Follows a path through objects, and through arrays by position, until its end or an array. */
function descend(state: Reached, path: Path): Reached {
  let { value, depth } = state;
  while (depth < path.parts.length) {
    const part = path.parts[depth]!;
    if (value?.type === Type.object) value = fieldNamed(value, part.bytes);
    else if (value?.type === Type.array && part.position >= 0) value = elementAt(value, path, depth);
    else if (value?.type === Type.array) return { value, depth };
    else return { value: undefined, depth: path.parts.length };
    depth++;
  }
  return { value, depth };
}

function elementAt(array: Value, path: Path, depth: number): Found {
  const { name, bytes, position } = path.parts[depth]!;
  const elements = elementsOf(array);
  if (elements.some((element) => element.type === Type.object && fieldNamed(element, bytes)))
    throw new CommandError(
      16746,
      `Ambiguous field name found in array (do not use numeric field names in embedded elements in an array), field: '${name}'`,
    );
  return elements[position];
}

/** The longest key that is stored as it is; a longer one is cut, and a digest tells it from others. */
const MAX_KEY = 900;

/** Whether a key had to be cut: it then orders correctly only up to where it was cut. */
export const isLong = ({ length }: Buffer): boolean => length > MAX_KEY;

/** A key as it is stored, equal only for equal keys. */
export function storedKey(key: Buffer): Buffer {
  if (!isLong(key)) return key;
  return Buffer.concat([key.subarray(0, MAX_KEY - 32), createHash('sha256').update(key).digest()]);
}

/** A bound that keeps stored keys at or above `key` in, including cut ones. */
export const cutBound = (key: Buffer): Buffer => (isLong(key) ? key.subarray(0, MAX_KEY - 32) : key);
