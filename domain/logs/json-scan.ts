/** Finds where values stand in a JSON text without building them: what is large is looked at piece by piece. */

/** An element of an array or a member of an object. */
export interface Item {
  /** Of a member. */
  readonly key?: string;
  readonly from: number;
  /** Behind its last sign. */
  readonly to: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const PLAIN = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Where the text goes on behind blanks. */
export function skipBlanks(text: string, from: number): number {
  let at = from;
  for (;;) {
    const sign = text.charCodeAt(at);
    if (sign !== 0x20 && sign !== 0x0a && sign !== 0x0d && sign !== 0x09) return at;
    at++;
  }
}

/** Where the value that begins at `from` is over; -1 when it is no valid JSON. No stack grows with its depth. */
export function endOfValue(text: string, from: number): number {
  /** The signs that close what is open. */
  const open: number[] = [];
  let at = from;
  for (;;) {
    at = skipBlanks(text, at);
    const sign = text.charCodeAt(at);
    if (sign === OPEN_ARRAY || sign === OPEN_OBJECT) {
      const close = sign + 2;
      at = skipBlanks(text, at + 1);
      if (text.charCodeAt(at) === close) at++;
      else {
        open.push(close);
        if (close === CLOSE_OBJECT) at = endOfKey(text, at);
        if (at < 0) return -1;
        continue;
      }
    } else at = sign === QUOTE ? endOfString(text, at) : endOfPlain(text, at);
    if (at < 0) return -1;
    // With a value, what it stands in may be over too.
    for (;;) {
      const close = open.at(-1);
      if (close === undefined) return at;
      at = skipBlanks(text, at);
      const next = text.charCodeAt(at++);
      if (next === COMMA) {
        if (close === CLOSE_OBJECT) at = endOfKey(text, at);
        if (at < 0) return -1;
        break;
      }
      if (next !== close) return -1;
      open.pop();
    }
  }
}

/**
 * What stands in the array or object that begins at `from`, one after the other. Returns where it is over, or -1
 * when it turns out to be no valid JSON.
 */
export function* itemsOf(text: string, from: number): Generator<Item, number> {
  const close = text.charCodeAt(from) + 2;
  if (close !== CLOSE_ARRAY && close !== CLOSE_OBJECT) return -1;
  let at = skipBlanks(text, from + 1);
  if (text.charCodeAt(at) === close) return at + 1;
  for (;;) {
    let key: string | undefined;
    if (close === CLOSE_OBJECT) {
      at = skipBlanks(text, at);
      const end = text.charCodeAt(at) === QUOTE ? endOfString(text, at) : -1;
      if (end < 0) return -1;
      key = JSON.parse(text.slice(at, end));
      at = endOfKey(text, at);
      if (at < 0) return -1;
    }
    at = skipBlanks(text, at);
    const to = endOfValue(text, at);
    if (to < 0) return -1;
    yield key === undefined ? { from: at, to } : { key, from: at, to };
    at = skipBlanks(text, to);
    const next = text.charCodeAt(at++);
    if (next === close) return at;
    if (next !== COMMA) return -1;
  }
}

/** Behind the colon. */
function endOfKey(text: string, from: number): number {
  const begin = skipBlanks(text, from);
  const end = text.charCodeAt(begin) === QUOTE ? endOfString(text, begin) : -1;
  if (end < 0) return -1;
  const colon = skipBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? colon + 1 : -1;
}

function endOfString(text: string, from: number): number {
  const { length } = text;
  for (let at = from + 1; at < length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) return at + 1;
    if (sign < 0x20) return -1;
    if (sign !== BACKSLASH) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return -1;
    at = ESCAPE.lastIndex - 1;
  }
  return -1;
}

function endOfPlain(text: string, from: number): number {
  PLAIN.lastIndex = from;
  return PLAIN.test(text) ? PLAIN.lastIndex : -1;
}
