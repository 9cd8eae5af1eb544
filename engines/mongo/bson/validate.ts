/** Validates BSON from outside once, so that all other code may trust it. */
import { endOf, int32, nameOfType, Type } from './value.js';

/** The real server stores 180 levels. With paths of at most 80 parts no update can exceed that from here. */
export const MAX_DEPTH = 100;
export const TOO_DEEP = 'exceeded maximum nested object depth';
/** Start of the fault of a document with a value of a type that is not stored. */
export const UNKNOWN_TYPE = 'the BSON type ';

/**
 * Describes what is wrong with the document at `start`; undefined if it is valid BSON that ends at or before `limit`:
 * consistent lengths, terminated strings, supported types, at most 100 levels.
 */
export function faultOf(bytes: Buffer, start = 0, limit = bytes.length, depth = 0): string | undefined {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (limit - start < 5) return 'not enough bytes for a document';
  const length = int32(bytes, start);
  const end = start + length;
  if (length < 5 || end > limit || bytes[end - 1] !== 0) return 'invalid document length';
  let at = start + 4;
  while (at < end - 1) {
    const type = bytes[at]!;
    const name = bytes.indexOf(0, at + 1);
    if (name < 0 || name >= end - 1) return 'field name without an end';
    const from = name + 1;
    const fault = faultOfValue(type, bytes, from, end - 1, depth);
    if (fault) return fault;
    at = endOf(type, bytes, from);
  }
  return at === end - 1 ? undefined : 'a value runs over the end of its document';
}

function faultOfValue(type: number, bytes: Buffer, at: number, limit: number, depth: number) {
  switch (type) {
    case Type.object:
    case Type.array:
      return faultOf(bytes, at, limit, depth + 1);
    case Type.string:
      return faultOfString(bytes, at, limit);
    case Type.binary:
      if (limit - at < 5 || int32(bytes, at) < 0 || at + 5 + int32(bytes, at) > limit) return 'invalid binary';
      return undefined;
    case Type.boolean:
      return at < limit && bytes[at]! <= 1 ? undefined : 'invalid boolean value';
    default: {
      const end = endOf(type, bytes, at);
      if (Number.isNaN(end)) return UNKNOWN_TYPE + nameOfType(type);
      return end <= limit ? undefined : 'a value runs over the end of its document';
    }
  }
}

function faultOfString(bytes: Buffer, at: number, limit: number): string | undefined {
  if (limit - at < 5) return 'not enough bytes for a string';
  const length = int32(bytes, at);
  const end = at + 4 + length;
  return length < 1 || end > limit || bytes[end - 1] !== 0 ? 'invalid string' : undefined;
}
