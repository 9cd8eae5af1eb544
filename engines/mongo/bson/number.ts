/** Exact arithmetic and order of int32, Long, double and Decimal128, as on the server. */
import { Decimal128 } from 'bson';
import { int32, Type, type Value } from './value.js';

/** A finite decimal: `coefficient * 10^exponent`. */
export interface Decimal {
  readonly coefficient: bigint;
  readonly exponent: number;
}

export const isNumeric = (type: number): boolean =>
  type === Type.int || type === Type.double || type === Type.long || type === Type.decimal;

export const longOf = (value: Value): bigint => value.bytes.readBigInt64LE(value.start);
export const doubleOf = (value: Value): number => value.bytes.readDoubleLE(value.start);

/** Exact value of a Decimal128, or its special value. */
export function decimalOf(value: Value): Decimal | 'nan' | 'infinity' | '-infinity' {
  const low = value.bytes.readBigUInt64LE(value.start);
  const high = value.bytes.readBigUInt64LE(value.start + 8);
  const negative = high >> 63n === 1n;
  const combination = (high >> 58n) & 0x1fn;
  if (combination === 0x1fn) return 'nan';
  if (combination === 0x1en) return negative ? '-infinity' : 'infinity';
  // The standard's second form holds coefficients beyond 34 digits, which count as zero.
  const wide = combination >> 3n === 3n;
  const exponent = Number((high >> (wide ? 47n : 49n)) & 0x3fffn) - 6176;
  const magnitude = wide ? 0n : ((high & 0x1ffffffffffffn) << 64n) | low;
  return { coefficient: negative ? -magnitude : magnitude, exponent };
}

/** Nearest double of a number; -0 becomes 0. */
export function toNumber(value: Value): number {
  switch (value.type) {
    case Type.int:
      return int32(value.bytes, value.start);
    case Type.double:
      return doubleOf(value) + 0;
    case Type.long:
      return Number(longOf(value));
    default:
      return Number(new Decimal128(value.bytes.subarray(value.start, value.end)).toString());
  }
}

/** The number if it is a safe integer; otherwise undefined. */
export function integerOf(value: Value): number | undefined {
  if (!isNumeric(value.type)) return undefined;
  const number = toNumber(value);
  return Number.isSafeInteger(number) ? number + 0 : undefined;
}

/** Compares a decimal exactly with a finite double; returns 1, 0 or -1. */
export function compareDecimal(decimal: Decimal, double: number): number {
  if (decimal.coefficient === 0n) return double === 0 ? 0 : double > 0 ? -1 : 1;
  let [left, exponent] = [decimal.coefficient, decimal.exponent];
  let [right, binary] = mantissaOf(double);
  if (exponent > 0) left *= 10n ** BigInt(exponent);
  else right *= 10n ** BigInt(-exponent);
  if (binary > 0) right <<= BigInt(binary);
  else left <<= BigInt(-binary);
  exponent = 0;
  binary = 0;
  return left < right ? -1 : left > right ? 1 : 0;
}

const scratch = new DataView(new ArrayBuffer(8));

function mantissaOf(double: number): [bigint, number] {
  scratch.setFloat64(0, double);
  const bits = scratch.getBigUint64(0);
  const biased = Number((bits >> 52n) & 0x7ffn);
  const fraction = bits & 0xfffffffffffffn;
  const mantissa = biased === 0 ? fraction : fraction | 0x10000000000000n;
  return [bits >> 63n ? -mantissa : mantissa, (biased || 1) - 1075];
}

/** The next lower double. */
export function nextLower(double: number): number {
  if (double === 0) return -Number.MIN_VALUE;
  if (double === Number.POSITIVE_INFINITY) return Number.MAX_VALUE;
  if (double === -Number.MAX_VALUE) return Number.NEGATIVE_INFINITY;
  scratch.setFloat64(0, double);
  const bits = scratch.getBigInt64(0);
  scratch.setBigInt64(0, double > 0 ? bits - 1n : bits + 1n);
  return scratch.getFloat64(0);
}
