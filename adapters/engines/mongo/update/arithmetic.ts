/** `$inc` and `$mul`: exact sums and products in the type the server would answer with. */
import { Decimal128, Double, Int32, Long } from 'bson';
import { toValue } from '../bson/make.js';
import { type Decimal, decimalOf, longOf, toNumber } from '../bson/number.js';
import { Type, type Value } from '../bson/value.js';
import type { CommandError } from '../errors.js';

type Operation = 'add' | 'multiply';

/** Two numbers combined: int32 grows to Long, a double or decimal operand decides. Errors: 2 when a Long overflows. */
export function combine(operation: Operation, a: Value, b: Value, overflow: () => CommandError): Value {
  if (a.type === Type.decimal || b.type === Type.decimal) return combineDecimals(operation, a, b);
  if (a.type === Type.double || b.type === Type.double) {
    const [left, right] = [toNumber(a), toNumber(b)];
    return toValue(new Double(operation === 'add' ? left + right : left * right));
  }
  const [left, right] = [integer(a), integer(b)];
  const result = operation === 'add' ? left + right : left * right;
  if (BigInt.asIntN(64, result) !== result) throw overflow();
  const small = a.type === Type.int && b.type === Type.int && BigInt.asIntN(32, result) === result;
  return toValue(small ? new Int32(Number(result)) : Long.fromBigInt(result));
}

const integer = (value: Value): bigint => (value.type === Type.int ? BigInt(toNumber(value)) : longOf(value));

/** Zero in the type of an operand, which a missing field starts from. */
export function zeroLike(value: Value): Value {
  switch (value.type) {
    case Type.int:
      return toValue(new Int32(0));
    case Type.long:
      return toValue(Long.ZERO);
    case Type.double:
      return toValue(new Double(0));
    default:
      return toValue(Decimal128.fromString('0'));
  }
}

function combineDecimals(operation: Operation, a: Value, b: Value): Value {
  const [left, right] = [asDecimal(a), asDecimal(b)];
  if (typeof left === 'string' || typeof right === 'string')
    return toValue(Decimal128.fromString(special(operation, a, b)));
  if (operation === 'multiply')
    return rounded({
      coefficient: left.coefficient * right.coefficient,
      exponent: left.exponent + right.exponent,
    });
  const exponent = Math.min(left.exponent, right.exponent);
  const scale = (decimal: Decimal) => decimal.coefficient * 10n ** BigInt(decimal.exponent - exponent);
  return rounded({ coefficient: scale(left) + scale(right), exponent });
}

function asDecimal(value: Value): ReturnType<typeof decimalOf> {
  if (value.type === Type.decimal) return decimalOf(value);
  if (value.type !== Type.double) return { coefficient: integer(value), exponent: 0 };
  const double = toNumber(value);
  if (Number.isNaN(double)) return 'nan';
  if (!Number.isFinite(double)) return double > 0 ? 'infinity' : '-infinity';
  // The server turns a double into a decimal of 15 digits.
  return decimalOf(toValue(Decimal128.fromString(double.toPrecision(15))));
}

/** Infinities and NaN follow the rules of doubles. */
function special(operation: Operation, a: Value, b: Value): string {
  const [left, right] = [toNumber(a), toNumber(b)];
  return String(operation === 'add' ? left + right : left * right);
}

const DIGITS = 10n ** 34n;

/** To 34 digits, half to even. */
function rounded({ coefficient, exponent }: Decimal): Value {
  const sign = coefficient < 0n ? '-' : '';
  let digits = coefficient < 0n ? -coefficient : coefficient;
  let scale = exponent;
  const excess = digits.toString().length - 34;
  if (excess > 0) {
    const unit = 10n ** BigInt(excess);
    const [whole, rest] = [digits / unit, digits % unit];
    const up = rest * 2n > unit || (rest * 2n === unit && whole % 2n === 1n);
    digits = up ? whole + 1n : whole;
    scale += excess;
    if (digits === DIGITS) [digits, scale] = [digits / 10n, scale + 1];
  }
  if (digits.toString().length + scale > 6145) return toValue(Decimal128.fromString(`${sign}Infinity`));
  if (scale < -6176) return toValue(Decimal128.fromString(`${sign}0E-6176`));
  return toValue(Decimal128.fromString(`${sign}${digits}E${scale}`));
}
