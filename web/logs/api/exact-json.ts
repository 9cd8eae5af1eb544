/** JSON with numbers as they were sent: those that a double cannot hold keep their digits. */

/** A number as its digits. */
export class ExactNumber {
  readonly digits: string;
  constructor(digits: string) {
    this.digits = digits;
  }
  toString(): string {
    return this.digits;
  }
}

type Reviver = (name: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** Numbers with more digits than a double holds; the rest is parsed without a reviver, which is slower. */
const LONG_NUMBER = /\d{16}/;

/** Browsers that do not give a number's source round it, as `JSON.parse` does. */
export function parseExact(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text);
  const preserveDigits: Reviver = (_, value, context) =>
    typeof value === 'number' && context?.source && String(value) !== context.source && LONG_NUMBER.test(context.source)
      ? new ExactNumber(context.source)
      : value;
  return (JSON.parse as (text: string, reviver: Reviver) => unknown)(text, preserveDigits);
}

/** JSON text, indented by `space`. */
export function stringifyExact(value: unknown, space?: number): string {
  const digits: string[] = [];
  // A control character and an index stand for each number.
  const marked = JSON.stringify(
    value,
    (_, each: unknown) => (each instanceof ExactNumber ? `\u0001${digits.push(each.digits) - 1}` : each),
    space,
  );
  return digits.length === 0
    ? marked
    : marked.replace(/"\\u0001(\d+)"/g, (mark, index) => digits[Number(index)] ?? mark);
}
