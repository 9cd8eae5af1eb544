/** Implements `$inc`: exact sums in the type that the server would return. */
import { Double, Int32, Long } from 'bson';
import { toValue } from '../bson/encode.js';
import { longOf, toNumber } from '../bson/number.js';
import { Type, type Value } from '../bson/value.js';
import type { CommandError } from '../errors.js';

/** Adds two numbers. int32 grows to Long; a double operand determines the type. Throws `overflow` for a Long. */
export function add(a: Value, b: Value, overflow: () => CommandError): Value {
  if (a.type === Type.double || b.type === Type.double) return toValue(new Double(toNumber(a) + toNumber(b)));
  const result = integer(a) + integer(b);
  if (BigInt.asIntN(64, result) !== result) throw overflow();
  const small = a.type === Type.int && b.type === Type.int && BigInt.asIntN(32, result) === result;
  return toValue(small ? new Int32(Number(result)) : Long.fromBigInt(result));
}

const integer = (value: Value): bigint => (value.type === Type.int ? BigInt(toNumber(value)) : longOf(value));
