/** Defines the single order of values shared by index keys, matcher, updates and sorts. */
import { keyOf, kindOf } from './key.js';
import { int32, Type, type Value } from './value.js';

/**
 * Compares two values as the server does, by kind and then by value; returns a negative number, zero or a positive
 * number.
 */
export function compareValues(a: Value, b: Value): number {
  if (a.type === b.type)
    switch (a.type) {
      case Type.string:
        return a.bytes.compare(b.bytes, b.start + 4, b.end - 1, a.start + 4, a.end - 1);
      case Type.objectId:
        return a.bytes.compare(b.bytes, b.start, b.end, a.start, a.end);
      case Type.int: {
        const [left, right] = [int32(a.bytes, a.start), int32(b.bytes, b.start)];
        return left < right ? -1 : left > right ? 1 : 0;
      }
      case Type.date:
      case Type.long: {
        const [left, right] = [a.bytes.readBigInt64LE(a.start), b.bytes.readBigInt64LE(b.start)];
        return left < right ? -1 : left > right ? 1 : 0;
      }
    }
  const kinds = kindOf(a) - kindOf(b);
  return kinds !== 0 ? kinds : Buffer.compare(keyOf(a), keyOf(b));
}

export const equalValues = (a: Value, b: Value): boolean => compareValues(a, b) === 0;
