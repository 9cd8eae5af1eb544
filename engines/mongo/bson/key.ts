/** Encodes BSON values as keys that sort, byte by byte, in the server's order of values. */
import { compareDecimal, type Decimal, decimalOf, doubleOf, longOf, nextLower } from './number.js';
import { elementsOf, fieldsOf, int32, Type, type Value } from './value.js';

/** Order of kinds. Each key starts with one of these bytes, so a kind is also a key range. */
export const Kind = {
  minKey: 0x08,
  undefined: 0x0c,
  null: 0x10,
  number: 0x20,
  string: 0x30,
  object: 0x40,
  array: 0x50,
  binary: 0x60,
  objectId: 0x70,
  boolean: 0x80,
  date: 0x90,
  timestamp: 0xa0,
  regex: 0xb0,
  dbPointer: 0xb8,
  code: 0xc0,
  codeWithScope: 0xc8,
  maxKey: 0xf0,
} as const;

const KINDS = new Uint8Array(256);
KINDS[Type.double] = KINDS[Type.int] = KINDS[Type.long] = KINDS[Type.decimal] = Kind.number;
KINDS[Type.string] = KINDS[Type.symbol] = Kind.string;
KINDS[Type.object] = Kind.object;
KINDS[Type.array] = Kind.array;
KINDS[Type.binary] = Kind.binary;
KINDS[Type.undefined] = Kind.undefined;
KINDS[Type.objectId] = Kind.objectId;
KINDS[Type.boolean] = Kind.boolean;
KINDS[Type.date] = Kind.date;
KINDS[Type.null] = Kind.null;
KINDS[Type.regex] = Kind.regex;
KINDS[Type.dbPointer] = Kind.dbPointer;
KINDS[Type.code] = Kind.code;
KINDS[Type.codeWithScope] = Kind.codeWithScope;
KINDS[Type.timestamp] = Kind.timestamp;
KINDS[Type.maxKey] = Kind.maxKey;
KINDS[Type.minKey] = Kind.minKey;

/** Kind of a value: values of one kind are compared by value, others by kind. */
export const kindOf = (value: Value): number => KINDS[value.type]!;

/** One reusable buffer, because a key is built in many small steps and copied out once. */
let buffer = Buffer.allocUnsafe(16_384);
let at = 0;

function reserve(size: number): void {
  if (at + size <= buffer.length) return;
  const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, at + size));
  buffer.copy(larger, 0, 0, at);
  buffer = larger;
}

/** Writes bytes with an escape for zero and a terminator, so that following bytes cannot change the order. */
function putText(bytes: Buffer, start: number, end: number): void {
  reserve((end - start) * 2 + 1);
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    buffer[at++] = byte;
    if (byte === 0) buffer[at++] = 0xff;
  }
  buffer[at++] = 0;
}

/** Writes a finite or infinite double, then a flag for an exact remainder above it. */
function putDouble(double: number): void {
  reserve(9);
  buffer.writeDoubleBE(double + 0, at);
  if (buffer[at]! & 0x80) for (let i = at; i < at + 8; i++) buffer[i] = ~buffer[i]!;
  else buffer[at]! ^= 0x80;
  at += 8;
  buffer[at++] = 0;
}

/** Writes NaN, which sorts below all numbers, including -Infinity. */
function putNaN(): void {
  reserve(9);
  buffer.fill(0, at, at + 9);
  at += 9;
}

/**
 * Writes a number that equals no double: the next lower double, then the decimal digits. Only such numbers share that
 * prefix, and the digits decide between them.
 */
function putExact(decimal: Decimal): void {
  let { coefficient, exponent } = decimal;
  if (coefficient === 0n) {
    putDouble(0);
    return;
  }
  while (coefficient % 10n === 0n) {
    coefficient /= 10n;
    exponent++;
  }
  const digits = (coefficient < 0n ? -coefficient : coefficient).toString();
  const magnitude = digits.length + exponent;
  const sign = coefficient < 0n ? -1 : 1;
  let floor: number;
  if (magnitude > 309) floor = sign > 0 ? Number.MAX_VALUE : Number.NEGATIVE_INFINITY;
  else if (magnitude < -330) floor = sign > 0 ? 0 : -Number.MIN_VALUE;
  else {
    floor = Number(`${coefficient}e${exponent}`);
    if (!Number.isFinite(floor)) floor = sign * Number.MAX_VALUE;
    const order = compareDecimal({ coefficient, exponent }, floor);
    if (order === 0) {
      putDouble(floor);
      return;
    }
    if (order < 0) floor = nextLower(floor);
  }
  putDouble(floor);
  buffer[at - 1] = 1;
  reserve(digits.length + 3);
  const from = at;
  at = buffer.writeUInt16BE(magnitude + 0x4000, at);
  at += buffer.write(digits, at, 'latin1');
  buffer[at++] = 0;
  if (sign < 0) for (let i = from; i < at; i++) buffer[i] = ~buffer[i]!;
}

function putDecimal(value: Value): void {
  const decimal = decimalOf(value);
  if (decimal === 'nan') putNaN();
  else if (decimal === 'infinity') putDouble(Number.POSITIVE_INFINITY);
  else if (decimal === '-infinity') putDouble(Number.NEGATIVE_INFINITY);
  else putExact(decimal);
}

function putLong(long: bigint): void {
  const double = Number(long);
  if (Number.isSafeInteger(double) || BigInt(double) === long) putDouble(double);
  else putExact({ coefficient: long, exponent: 0 });
}

/** Writes a signed 64-bit number, big-endian with the sign bit flipped, so that negatives sort first. */
function putSigned(bytes: Buffer, start: number): void {
  reserve(8);
  for (let i = 7; i >= 0; i--) buffer[at++] = bytes[start + i]!;
  buffer[at - 8]! ^= 0x80;
}

function putBody(value: Value): void {
  const { type, bytes, start, end } = value;
  switch (type) {
    case Type.string:
    case Type.symbol:
    case Type.code:
      putText(bytes, start + 4, end - 1);
      return;
    case Type.int:
      putDouble(int32(bytes, start));
      return;
    case Type.double: {
      const double = doubleOf(value);
      if (Number.isNaN(double)) putNaN();
      else putDouble(double);
      return;
    }
    case Type.long:
      putLong(longOf(value));
      return;
    case Type.decimal:
      putDecimal(value);
      return;
    case Type.date:
      putSigned(bytes, start);
      return;
    case Type.timestamp:
      reserve(8);
      for (let i = 7; i >= 0; i--) buffer[at++] = bytes[start + i]!;
      return;
    case Type.objectId:
    case Type.boolean:
      reserve(12);
      at += bytes.copy(buffer, at, start, end);
      return;
    case Type.binary:
      reserve(end - start);
      at = buffer.writeInt32BE(int32(bytes, start), at);
      at += bytes.copy(buffer, at, start + 4, end);
      return;
    case Type.object:
      for (const field of fieldsOf(value)) {
        reserve(1);
        buffer[at++] = kindOf(field);
        putText(bytes, field.from + 1, field.start - 1);
        putBody(field);
      }
      putEnd();
      return;
    case Type.array:
      for (const element of elementsOf(value)) putValue(element);
      putEnd();
      return;
    case Type.regex: {
      const pattern = bytes.indexOf(0, start);
      putText(bytes, start, pattern);
      putText(bytes, pattern + 1, end - 1);
      return;
    }
    case Type.dbPointer:
    case Type.codeWithScope:
      putText(bytes, start, end);
      return;
  }
}

function putEnd(): void {
  reserve(1);
  buffer[at++] = 0;
}

function putValue(value: Value): void {
  reserve(1);
  buffer[at++] = kindOf(value);
  putBody(value);
}

/** Sort key of one value; undefined stands for a missing field, which sorts as null. */
export function keyOf(value: Value | undefined): Buffer {
  at = 0;
  if (value) putValue(value);
  else buffer[at++] = Kind.null;
  return Buffer.from(buffer.subarray(0, at));
}

/** Terminates a key, so that a descending text is distinct from longer texts that start with it. */
export const END = Buffer.of(0x04);

/** Key of several values after `head`, each ascending (1) or descending (-1). */
export function compoundKey(
  head: Buffer,
  values: readonly (Value | undefined)[],
  directions: readonly number[],
): Buffer {
  at = 0;
  reserve(head.length + 1);
  at += head.copy(buffer, 0);
  for (let i = 0; i < values.length; i++) {
    const from = at;
    const value = values[i];
    if (value) putValue(value);
    else {
      reserve(1);
      buffer[at++] = Kind.null;
    }
    if (directions[i]! < 0) for (let k = from; k < at; k++) buffer[k] = ~buffer[k]!;
  }
  return Buffer.from(buffer.subarray(0, at));
}
