/** Reads numbers: int32, Long and double. */
import { int32, Type, type Value } from './value.js';

export const isNumeric = (type: number): boolean => type === Type.int || type === Type.double || type === Type.long;

export const longOf = (value: Value): bigint => value.bytes.readBigInt64LE(value.start);
export const doubleOf = (value: Value): number => value.bytes.readDoubleLE(value.start);

/** Nearest double of a number; -0 becomes 0. */
export function toNumber(value: Value): number {
  if (value.type === Type.int) return int32(value.bytes, value.start);
  return value.type === Type.double ? doubleOf(value) + 0 : Number(longOf(value));
}

/** The number if it is a safe integer; otherwise undefined. */
export function integerOf(value: Value): number | undefined {
  if (!isNumeric(value.type)) return undefined;
  const number = toNumber(value);
  return Number.isSafeInteger(number) ? number + 0 : undefined;
}
