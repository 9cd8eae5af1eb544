/** JSON values, their depth, and numbers that a double cannot represent. */

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const OPENING = /[[{]/g;

/**
 * Whether objects and arrays of a JSON text are nested at most `depth` levels. Recursion over deeper ones may overflow
 * the stack here or in a client, which gets also values that a later member of the same name replaces.
 */
export function isShallow(text: string, depth: number): boolean {
  // The usual case: there are not more than that at all.
  const openings = text.match(OPENING);
  if (!openings || openings.length <= depth) return true;
  let [open, inString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (inString && char === '\\') at++;
    else if (char === '"') inString = !inString;
    else if (inString) continue;
    else if (char === '{' || char === '[') open++;
    else if (char === '}' || char === ']') open--;
    if (open > depth) return false;
  }
  return true;
}

/** Numbers with fewer digits and no exponent survive parsing unchanged. */
const MANY_DIGITS = 16;
const EXPONENT = /[:,[]\s*-?\d[\d.]*[eE]/;
/** Cheap check that rules out most texts before `EXPONENT`. */
const EXPONENT_HINT = /\d[eE][\d+-]/;

/** Whether the text may contain a number that parsing would change: many digits, or an exponent. */
function mayLosePrecision(text: string): boolean {
  // A run of n digits covers at least one of every n-th position.
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    if (!isDigitOrPoint(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isDigitOrPoint(text.charCodeAt(from - 1))) from--;
    while (isDigitOrPoint(text.charCodeAt(to))) to++;
    if (to - from >= MANY_DIGITS) return true;
  }
  return EXPONENT_HINT.test(text) && EXPONENT.test(text);
}

const isDigitOrPoint = (code: number) => (code >= 0x30 && code <= 0x39) || code === 0x2e;

/** Strings, numbers and whitespace of valid JSON; all else stays unchanged. */
const TOKEN = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*|[ \t\r\n]+/g;

/** JSON without whitespace and escapes; its numbers are written as `JSON.stringify` does, or `-0`. */
const COMPACT = /^(?:[{}[\],:]|"[^"\\]*"|true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{0,5}[1-9])?(?=[,\]}]))+$/;

/**
 * Serialises a value like `JSON.stringify`, except that numbers a double would change stay as in `text`, from which
 * the value was parsed. A compact text stays as it is, also with repeated members.
 */
export function stringifyExact(text: string, value: Json): string {
  // The usual case, tested because it takes a fifth of the time of serialising.
  if (COMPACT.test(text)) return text;
  return mayLosePrecision(text) ? compactJson(text) : JSON.stringify(value);
}

/** Removes whitespace; writes strings and numbers like `JSON.stringify` where that is lossless. */
export const compactJson = (text: string): string =>
  text.replace(TOKEN, (token) => {
    if (token.startsWith('"')) return token.includes('\\') ? JSON.stringify(JSON.parse(token)) : token;
    return isNumber(token) ? formatNumber(token) : '';
  });

/** Parses the output of `stringifyExact`; numbers a double would change become strings of their digits. */
export function parseExact(text: string): Json {
  if (!mayLosePrecision(text)) return JSON.parse(text);
  const quoted = (token: string) => (isNumber(token) && String(Number(token)) !== token ? `"${token}"` : token);
  return JSON.parse(text.replace(TOKEN, quoted));
}

const isNumber = (token: string) => /^[-\d]/.test(token);

/** Decimals with up to this many digits are represented uniquely by a double. */
const EXACT_DIGITS = 15;

function formatNumber(token: string): string {
  const value = Number(token);
  const digits = token
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '');
  if (digits === '') return '0';
  const size = Math.abs(value);
  return digits.length <= EXACT_DIGITS && size > 1e-300 && size < 1e300 ? String(value) : token;
}
