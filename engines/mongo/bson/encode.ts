/** Creates BSON values and documents: small answers with `bson`, stored documents by concatenating bytes. */
import { deserialize, serialize } from 'bson';
import { documentValue, fieldsOf, Type, type Value } from './value.js';

/** Encodes plain JavaScript and `bson` classes as a document. */
export function encode(object: object): Buffer {
  const bytes = serialize(object, { ignoreUndefined: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Encodes one value, for example `toValue(new Date())`. */
export const toValue = (value: unknown): Value => fieldsOf(documentValue(encode({ value })))[0]!;

/** Creates a Long without `bson`, because every answer with a cursor has one. */
export function longValue(long: bigint): Value {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64LE(long);
  return { type: Type.long, bytes, start: 0, end: 8 };
}

/** Creates a string without `bson`. */
export function textValue(text: string): Value {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(length + 5);
  bytes.writeInt32LE(length + 1);
  bytes.write(text, 4);
  bytes[length + 4] = 0;
  return { type: Type.string, bytes, start: 0, end: length + 5 };
}

export const NULL: Value = { type: Type.null, bytes: Buffer.alloc(0), start: 0, end: 0 };
export const EMPTY_DOCUMENT = encode({});

/** Name and value of a field. */
export type Named = readonly [name: string, value: Value];

/** Creates a document of these fields in this order. With names "0", "1", ... it is the body of an array. */
export function join(fields: readonly Named[]): Buffer {
  let size = 5;
  for (const [name, value] of fields) size += 2 + Buffer.byteLength(name) + value.end - value.start;
  const bytes = Buffer.allocUnsafe(size);
  let at = bytes.writeInt32LE(size, 0);
  for (const [name, value] of fields) {
    bytes[at++] = value.type;
    at += bytes.write(name, at);
    bytes[at++] = 0;
    at += value.bytes.copy(bytes, at, value.start, value.end);
  }
  bytes[at] = 0;
  return bytes;
}

export const arrayOf = (elements: readonly Value[]): Value => {
  const bytes = join(elements.map((element, i) => [String(i), element] as const));
  return { type: Type.array, bytes, start: 0, end: bytes.length };
};

/** Decodes a document into JavaScript that `encode` turns back into the same bytes. */
export const decode = (document: Value): Record<string, unknown> =>
  deserialize(document.bytes.subarray(document.start, document.end), {
    promoteValues: false,
    bsonRegExp: true,
  });
