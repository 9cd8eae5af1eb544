/** Locates values in JSON text without parsing them, pausing regularly so that large texts do not block. */

/** An element of an array or a member of an object. */
export interface JsonItem {
  readonly key?: string;
  readonly from: number;
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

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NON_BLANK = /[^ \n\r\t]/g;
/** Checks single characters up to this many; beyond it a regular expression is faster. */
const SHORT_RUN = 64;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

export function skipBlanks(text: string, from: number): number {
  for (let at = from; at < from + SHORT_RUN; at++) {
    const char = text.charCodeAt(at);
    if (char !== 0x20 && char !== 0x0a && char !== 0x0d && char !== 0x09) return at;
  }
  NON_BLANK.lastIndex = from + SHORT_RUN;
  return NON_BLANK.exec(text)?.index ?? text.length;
}

/** Offset after the value at `from`, or -1 if it is invalid. Not recursive, so depth cannot overflow the stack. */
export function endOfValue(text: string, from: number): number {
  const scan = scanValue(text, from);
  let step = scan.next();
  while (!step.done) step = scan.next();
  return step.value;
}

/** Characters scanned between two pauses. */
const PAUSE_CHARACTERS = 32 * 1024;

/** Like `endOfValue`, but yields to allow pauses. */
export function* scanValue(text: string, from: number): Generator<undefined, number> {
  let pause = from + PAUSE_CHARACTERS;
  /** Closing brackets of the open arrays and objects. */
  const closers: number[] = [];
  let at = from;
  for (;;) {
    if (at > pause) {
      yield;
      pause = at + PAUSE_CHARACTERS;
    }
    at = skipBlanks(text, at);
    const char = text.charCodeAt(at);
    if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      const close = char + 2;
      at = skipBlanks(text, at + 1);
      if (text.charCodeAt(at) === close) at++;
      else {
        closers.push(close);
        if (close === CLOSE_OBJECT) at = endOfKey(text, at);
        if (at < 0) return -1;
        continue;
      }
    } else if (char === QUOTE) at = yield* scanString(text, at);
    else at = endOfLiteral(text, at);
    if (at < 0) return -1;
    // The end of a value may also end its containers.
    for (;;) {
      if (at > pause) {
        yield;
        pause = at + PAUSE_CHARACTERS;
      }
      const close = closers.at(-1);
      if (close === undefined) return at;
      at = skipBlanks(text, at);
      const next = text.charCodeAt(at++);
      if (next === COMMA) {
        if (close === CLOSE_OBJECT) at = endOfKey(text, at);
        if (at < 0) return -1;
        break;
      }
      if (next !== close) return -1;
      closers.pop();
    }
  }
}

/**
 * Yields the elements of the array or object at `from`, and undefined where a long one may pause. Returns the offset
 * after it, or -1 if it is not valid JSON.
 */
export function* scanItems(text: string, from: number): Generator<JsonItem | undefined, number> {
  const close = text.charCodeAt(from) + 2;
  if (close !== CLOSE_ARRAY && close !== CLOSE_OBJECT) return -1;
  let at = skipBlanks(text, from + 1);
  if (text.charCodeAt(at) === close) return at + 1;
  for (;;) {
    let key: string | undefined;
    if (close === CLOSE_OBJECT) {
      at = skipBlanks(text, at);
      const end = text.charCodeAt(at) === QUOTE ? yield* scanString(text, at) : -1;
      if (end < 0) return -1;
      key = JSON.parse(text.slice(at, end));
      at = endOfKey(text, at);
      if (at < 0) return -1;
    }
    at = skipBlanks(text, at);
    const to = yield* scanValue(text, at);
    if (to < 0) return -1;
    yield key === undefined ? { from: at, to } : { key, from: at, to };
    at = skipBlanks(text, to);
    const next = text.charCodeAt(at++);
    if (next === close) return at;
    if (next !== COMMA) return -1;
  }
}

function endOfKey(text: string, from: number): number {
  const start = skipBlanks(text, from);
  const end = text.charCodeAt(start) === QUOTE ? endOfString(text, start, text.length) : -1;
  if (end < 0) return -1;
  const colon = skipBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? colon + 1 : -1;
}

function* scanString(text: string, from: number): Generator<undefined, number> {
  let end = endOfString(text, from, from + PAUSE_CHARACTERS);
  for (; end < -1; end = endOfString(text, -end, PAUSE_CHARACTERS - end)) yield;
  return end;
}

/** Skips the character at `from`. If the string continues past `limit`, returns the negated offset to resume from. */
function endOfString(text: string, from: number, limit: number): number {
  const { length } = text;
  for (let at = from + 1; at < length; at++) {
    if (at > limit) return 1 - at;
    const char = text.charCodeAt(at);
    if (char === QUOTE) return at + 1;
    if (char < 0x20) return -1;
    if (char !== BACKSLASH) continue;
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) return -1;
    at = ESCAPE.lastIndex - 1;
  }
  return -1;
}

function endOfLiteral(text: string, from: number): number {
  LITERAL.lastIndex = from;
  return LITERAL.test(text) ? LITERAL.lastIndex : -1;
}
