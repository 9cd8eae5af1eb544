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
const SIGN = /[^ \n\r\t]/g;
/** Blanks are told from signs fastest one by one where there are few, and by a search where there are many. */
const FEW = 64;
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;

/** Where the text goes on behind blanks. */
export function skipBlanks(text: string, from: number): number {
  for (let at = from; at < from + FEW; at++) {
    const sign = text.charCodeAt(at);
    if (sign !== 0x20 && sign !== 0x0a && sign !== 0x0d && sign !== 0x09) return at;
  }
  SIGN.lastIndex = from + FEW;
  return SIGN.exec(text)?.index ?? text.length;
}

/** Where the value that begins at `from` is over; -1 when it is no valid JSON. No stack grows with its depth. */
export function endOfValue(text: string, from: number): number {
  const scan = scanValue(text, from);
  let step = scan.next();
  while (!step.done) step = scan.next();
  return step.value;
}

/** How many characters are looked at between two pauses. */
const STRIDE = 32 * 1024;

/** The same with pauses, in which others may have their turn. */
export function* scanValue(text: string, from: number): Generator<undefined, number> {
  let pause = from + STRIDE;
  /** The signs that close what is open. */
  const open: number[] = [];
  let at = from;
  for (;;) {
    if (at > pause) {
      yield;
      pause = at + STRIDE;
    }
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
    } else if (sign === QUOTE) at = yield* scanString(text, at);
    else at = endOfPlain(text, at);
    if (at < 0) return -1;
    // With a value, what it stands in may be over too.
    for (;;) {
      if (at > pause) {
        yield;
        pause = at + STRIDE;
      }
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
 * What stands in the array or object that begins at `from`, one after the other, and nothing where a large item may
 * pause. Returns where it is over, or -1 when it turns out to be no valid JSON.
 */
export function* itemsOf(text: string, from: number): Generator<Item | undefined, number> {
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

/** Behind the colon. */
function endOfKey(text: string, from: number): number {
  const begin = skipBlanks(text, from);
  const end = text.charCodeAt(begin) === QUOTE ? endOfString(text, begin, text.length) : -1;
  if (end < 0) return -1;
  const colon = skipBlanks(text, end);
  return text.charCodeAt(colon) === COLON ? colon + 1 : -1;
}

/** Most strings are short, and need no pause. */
function* scanString(text: string, from: number): Generator<undefined, number> {
  let end = endOfString(text, from, from + STRIDE);
  for (; end < -1; end = endOfString(text, -end, STRIDE - end)) yield;
  return end;
}

/** The sign at `from` is passed. What goes on beyond `most` is told by the negative of where it does. */
function endOfString(text: string, from: number, most: number): number {
  const { length } = text;
  for (let at = from + 1; at < length; at++) {
    if (at > most) return 1 - at;
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
