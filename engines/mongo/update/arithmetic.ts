/** Implements `$inc`: exact sums in the type that the server would return. */
import { Decimal128, Double, Int32, Long } from 'bson';
import { toValue } from '../bson/encode.js';
import { type Decimal, decimalOf, longOf, toNumber } from '../bson/number.js';
import { Type, type Value } from '../bson/value.js';
import type { CommandError } from '../errors.js';

/**
 * Adds two numbers. int32 grows to Long; a double or decimal operand determines the type. Throws `overflow` if a Long
 * overflows.
 */
export function add(a: Value, b: Value, overflow: () => CommandError): Value {
  if (a.type === Type.decimal || b.type === Type.decimal) return addDecimals(a, b);
  if (a.type === Type.double || b.type === Type.double) {
    return toValue(new Double(toNumber(a) + toNumber(b)));
  }
  const result = integer(a) + integer(b);
  if (BigInt.asIntN(64, result) !== result) throw overflow();
  const small = a.type === Type.int && b.type === Type.int && BigInt.asIntN(32, result) === result;
  return toValue(small ? new Int32(Number(result)) : Long.fromBigInt(result));
}

const integer = (value: Value): bigint => (value.type === Type.int ? BigInt(toNumber(value)) : longOf(value));

function addDecimals(a: Value, b: Value): Value {
  const [left, right] = [asDecimal(a), asDecimal(b)];
  if (typeof left === 'string' || typeof right === 'string')
    // Infinities and NaN follow the rules of doubles.
    return toValue(Decimal128.fromString(String(toNumber(a) + toNumber(b))));
  const exponent = Math.min(left.exponent, right.exponent);
  const scale = (decimal: Decimal) => decimal.coefficient * 10n ** BigInt(decimal.exponent - exponent);
  return roundTo34Digits({ coefficient: scale(left) + scale(right), exponent });
}

function asDecimal(value: Value): ReturnType<typeof decimalOf> {
  if (value.type === Type.decimal) return decimalOf(value);
  if (value.type !== Type.double) return { coefficient: integer(value), exponent: 0 };
  const double = toNumber(value);
  if (Number.isNaN(double)) return 'nan';
  if (!Number.isFinite(double)) return double > 0 ? 'infinity' : '-infinity';
  // The server converts a double into a decimal of 15 digits.
  return decimalOf(toValue(Decimal128.fromString(double.toPrecision(15))));
}

const DIGITS = 10n ** 34n;

/** Rounds to 34 digits, half to even. */
function roundTo34Digits({ coefficient, exponent }: Decimal): Value {
  const sign = coefficient < 0n ? '-' : '';
  let digits = coefficient < 0n ? -coefficient : coefficient;
  let scale = exponent;
  const excess = digits.toString().length - 34;
  if (excess > 0) {
    const unit = 10n ** BigInt(excess);
    const [quotient, rest] = [digits / unit, digits % unit];
    const up = rest * 2n > unit || (rest * 2n === unit && quotient % 2n === 1n);
    digits = up ? quotient + 1n : quotient;
    scale += excess;
    if (digits === DIGITS) [digits, scale] = [digits / 10n, scale + 1];
  }
  if (digits.toString().length + scale > 6145) return toValue(Decimal128.fromString(`${sign}Infinity`));
  if (scale < -6176) return toValue(Decimal128.fromString(`${sign}0E-6176`));
  return toValue(Decimal128.fromString(`${sign}${digits}E${scale}`));
}
