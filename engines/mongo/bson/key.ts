/** Encodes BSON values as keys that sort, byte by byte, in the server's order of values. */
import { doubleOf, longOf } from './number.js';
import { elementsOf, fieldsOf, int32, Type, type Value } from './value.js';

/** Order of kinds. Each key starts with one of these bytes, so a kind is also a key range. */
export const Kind = {
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
} as const;

const KINDS = new Uint8Array(256);
KINDS[Type.double] = KINDS[Type.int] = KINDS[Type.long] = Kind.number;
KINDS[Type.string] = Kind.string;
KINDS[Type.object] = Kind.object;
KINDS[Type.array] = Kind.array;
KINDS[Type.binary] = Kind.binary;
KINDS[Type.undefined] = Kind.undefined;
KINDS[Type.objectId] = Kind.objectId;
KINDS[Type.boolean] = Kind.boolean;
KINDS[Type.date] = Kind.date;
KINDS[Type.null] = Kind.null;
KINDS[Type.timestamp] = Kind.timestamp;

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

/** Bytes of a number: a double, and what a Long is above it. */
const NUMBER = 10;

/** Writes a number: the next lower double, big-endian and adjusted so that negatives sort first, and the rest. */
function putNumber(double: number, rest = 0): void {
  reserve(NUMBER);
  buffer.writeDoubleBE(double + 0, at);
  if (buffer[at]! & 0x80) for (let i = at; i < at + 8; i++) buffer[i] = ~buffer[i]!;
  else buffer[at]! ^= 0x80;
  at = buffer.writeUInt16BE(rest, at + 8);
}

/** Writes NaN, which sorts below all numbers, including -Infinity. */
function putNaN(): void {
  reserve(NUMBER);
  buffer.fill(0, at, at + NUMBER);
  at += NUMBER;
}

/** Writes a Long. Those beyond 2^53 lie at most 1023 above a double. */
function putLong(long: bigint): void {
  let double = Number(long);
  if (BigInt(double) > long) double = nextLower(double);
  putNumber(double, Number.isSafeInteger(double) ? 0 : Number(long - BigInt(double)));
}

const scratch = new DataView(new ArrayBuffer(8));

/** The next lower double of a whole number beyond 2^53. */
function nextLower(double: number): number {
  scratch.setFloat64(0, double);
  const bits = scratch.getBigInt64(0);
  scratch.setBigInt64(0, double > 0 ? bits - 1n : bits + 1n);
  return scratch.getFloat64(0);
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
      putText(bytes, start + 4, end - 1);
      return;
    case Type.int:
      putNumber(int32(bytes, start));
      return;
    case Type.double: {
      const double = doubleOf(value);
      if (Number.isNaN(double)) putNaN();
      else putNumber(double);
      return;
    }
    case Type.long:
      putLong(longOf(value));
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
