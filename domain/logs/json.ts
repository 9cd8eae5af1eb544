/** JSON as loggers write it: what a record is made of, how deep it may go, and numbers that a double can't hold. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** False for what would overflow the stack of everyone who walks it. */
export function isShallow(value: Json, most: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (most === 0) return false;
  if (Array.isArray(value)) return value.every((member) => isShallow(member, most - 1));
  // What JSON is parsed to inherits nothing that could be met here.
  for (const key in value) if (!isShallow((value as JsonObject)[key]!, most - 1)) return false;
  return true;
}

/** No number of fewer digits changes when it is parsed, but for its exponent. */
const MANY_DIGITS = 16;
const EXPONENT = /[:,[]\s*-?\d[\d.]*[eE]/;
/** Cheaper to look for, and rare: most text is ruled out by it. */
const LIKE_EXPONENT = /\d[eE][\d+-]/;

/** Whether an object or array may have a number that changes when it is parsed: of many digits, or with an exponent. */
function isSuspicious(text: string): boolean {
  // A run of so many signs lies over one of every so many.
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    if (!isOfNumber(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isOfNumber(text.charCodeAt(from - 1))) from--;
    while (isOfNumber(text.charCodeAt(to))) to++;
    if (to - from >= MANY_DIGITS) return true;
  }
  return LIKE_EXPONENT.test(text) && EXPONENT.test(text);
}

/** Of a digit or the point; beyond the text there is none. */
const isOfNumber = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2e;

/** Of valid JSON: its strings, numbers and blanks; what it leaves out stands as it is. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*|[ \t\r\n]+/g;

/**
 * A value as `JSON.stringify` writes it, but for numbers that a double would change: they stay as they stand in
 * `text`, which the value was parsed from.
 */
export function exactText(text: string, value: Json): string {
  const written = JSON.stringify(value);
  // As most loggers write it: then no number was changed on the way.
  if (written === text) return text;
  return isSuspicious(text) ? tidied(text) : written;
}

/** Valid JSON without blanks, its strings and numbers as `JSON.stringify` writes them where that says the same. */
export const tidied = (text: string): string =>
  text.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
    return isNumber(token) ? sameNumber(token) : '';
  });

/** Parses what `exactText` wrote; a number that a double would change is read as the text of its digits. */
export function parseExact(text: string): Json {
  if (!isSuspicious(text)) return JSON.parse(text);
  const quoted = (token: string) => (isNumber(token) && String(Number(token)) !== token ? `"${token}"` : token);
  return JSON.parse(text.replace(TOKEN, quoted));
}

const isNumber = (token: string) => /^[-\d]/.test(token);

/** A decimal of so many digits is the only one of them that its double stands for. */
const EXACT_DIGITS = 15;

function sameNumber(token: string): string {
  const value = Number(token);
  const digits = token
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return '0';
  const size = Math.abs(value);
  return digits.length <= EXACT_DIGITS && size > 1e-300 && size < 1e300 ? String(value) : token;
}
