/** Lazily decoded BSON: a value is a type byte and a range of bytes. */

/** Types that are stored. `undefined` only stands for the key of an empty array and never comes from a client. */
export const Type = {
  double: 1,
  string: 2,
  object: 3,
  array: 4,
  binary: 5,
  undefined: 6,
  objectId: 7,
  boolean: 8,
  date: 9,
  null: 10,
  int: 16,
  timestamp: 17,
  long: 18,
} as const;

/**
 * A BSON value: `bytes[start..end)` is its body without type and name. Documents include their length and final zero.
 */
export interface Value {
  readonly type: number;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** A named value; `from` is the offset of its type byte. */
export interface Field extends Value {
  readonly name: string;
  readonly from: number;
}

/** Wraps a whole document as a value. */
export const documentValue = (bytes: Buffer): Value => ({
  type: Type.object,
  bytes,
  start: 0,
  end: bytes.length,
});

const FIXED = new Uint8Array(256).fill(255);
for (const [type, size] of [
  [Type.double, 8],
  [Type.objectId, 12],
  [Type.boolean, 1],
  [Type.date, 8],
  [Type.null, 0],
  [Type.int, 4],
  [Type.timestamp, 8],
  [Type.long, 8],
] as const)
  FIXED[type] = size;

/** End offset of a value that starts at `at`; NaN for a type that is not stored. The bytes must be valid. */
export function endOf(type: number, bytes: Buffer, at: number): number {
  const fixed = FIXED[type]!;
  if (fixed !== 255) return at + fixed;
  switch (type) {
    case Type.object:
    case Type.array:
      return at + int32(bytes, at);
    case Type.string:
      return at + 4 + int32(bytes, at);
    case Type.binary:
      return at + 5 + int32(bytes, at);
    default:
      return Number.NaN;
  }
}

/** Reads a little-endian int32 without Buffer's checks. */
export const int32 = (bytes: Buffer, at: number): number =>
  bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);

function afterName(bytes: Buffer, at: number): number {
  let end = at;
  while (bytes[end] !== 0) end++;
  return end + 1;
}

/** Fields of a document, or elements of an array, in order. */
export function fieldsOf(document: Value): Field[] {
  const { bytes } = document;
  const fields: Field[] = [];
  let at = document.start + 4;
  while (at < document.end - 1) {
    const type = bytes[at]!;
    const start = afterName(bytes, at + 1);
    const end = endOf(type, bytes, start);
    fields.push({ type, bytes, start, end, from: at, name: bytes.toString('utf8', at + 1, start - 1) });
    at = end;
  }
  return fields;
}

/** Fields of a document by name. */
export const fieldsByName = (document: Value): Map<string, Field> =>
  new Map(fieldsOf(document).map((field) => [field.name, field]));

/** Elements of an array; cheaper than `fieldsOf` because it reads no names. */
export function elementsOf(array: Value): Value[] {
  const { bytes } = array;
  const elements: Value[] = [];
  let at = array.start + 4;
  while (at < array.end - 1) {
    const type = bytes[at]!;
    const start = afterName(bytes, at + 1);
    const end = endOf(type, bytes, start);
    elements.push({ type, bytes, start, end });
    at = end;
  }
  return elements;
}

/** Iterates over the elements of an array; a list of a million elements would need more memory than the array. */
export function* eachElement({ bytes, start: head, end: tail }: Value): Generator<Value> {
  for (let at = head + 4; at < tail - 1; ) {
    const type = bytes[at]!;
    const start = afterName(bytes, at + 1);
    at = endOf(type, bytes, start);
    yield { type, bytes, start, end: at };
  }
}

/** First field with the name (as UTF-8 bytes), or undefined. */
export function fieldNamed(document: Value, name: Buffer): Value | undefined {
  const { bytes } = document;
  const last = document.end - 1;
  const length = name.length;
  let at = document.start + 4;
  while (at < last) {
    const type = bytes[at]!;
    let i = 0;
    at++;
    while (i < length && bytes[at + i] === name[i]) i++;
    const found = i === length && bytes[at + i] === 0;
    const start = afterName(bytes, at + i);
    const end = endOf(type, bytes, start);
    if (found) return { type, bytes, start, end };
    at = end;
  }
  return undefined;
}

/** Bytes of a value's body. */
export const bodyOf = (value: Value): Buffer => value.bytes.subarray(value.start, value.end);

export const isObject = (value: Value): boolean => value.type === Type.object;
export const isArray = (value: Value): boolean => value.type === Type.array;

/** Text of a string. */
export const textOf = (value: Value): string => value.bytes.toString('utf8', value.start + 4, value.end - 1);

/** True if type and bytes are equal, which is stricter than comparing equal. */
export const identical = (a: Value, b: Value): boolean =>
  a.type === b.type && a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end) === 0;

const NAMES: Record<number, string> = {
  1: 'double',
  2: 'string',
  3: 'object',
  4: 'array',
  5: 'binData',
  6: 'undefined',
  7: 'objectId',
  8: 'bool',
  9: 'date',
  10: 'null',
  11: 'regex',
  12: 'dbPointer',
  13: 'javascript',
  14: 'symbol',
  15: 'javascriptWithScope',
  16: 'int',
  17: 'timestamp',
  18: 'long',
  19: 'decimal',
  127: 'maxKey',
  255: 'minKey',
};

/** Name of a type in error messages, of those that are not stored, too. */
export const nameOfType = (type: number): string => NAMES[type] ?? `number ${type}`;

/** Name of a value's type in error messages. */
export const typeName = ({ type }: Value): string => nameOfType(type);
