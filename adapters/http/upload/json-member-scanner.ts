/**
 * Takes large texts out of JSON while it comes: the members of the outermost object that are named go on piece by
 * piece, and leave an empty text behind. It looks for no more than where these are: the rest, which is small, is
 * parsed as JSON ever is.
 */

export interface MemberScanner {
  /** Resolves when what came of large members has gone on. */
  feed(bytes: Buffer): Promise<void>;
  /** The JSON without them. */
  rest(): Buffer;
}

/** Where a large member goes; its text comes without escapes, in pieces. */
export interface MemberSink {
  begin(name: string): Promise<void>;
  text(piece: Buffer): Promise<void>;
  end(): Promise<void>;
}

/** The rest is more than it may be. */
export class RestTooLarge extends Error {
  override readonly name = 'RestTooLarge';
}

const [QUOTE, BACKSLASH, COLON, U] = [0x22, 0x5c, 0x3a, 0x75];
const [OPENING, CLOSING] = [new Set([0x7b, 0x5b]), new Set([0x7d, 0x5d])];
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** What an escape stands for that is written in base64: an end of a line for nothing, all else for what it can't have. */
const [SLASH, N, R] = [0x2f, 0x6e, 0x72];
const NOTHING = -1;
const NOT_BASE64 = 0x21;
/** Of an escape: what follows its backslash, or so many digits of it. */
const KIND = 5;
const DIGITS = 4;
/** By byte. */
const DIGIT_OF = Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16));

/** `mostRest`: of the JSON without its large members, in bytes. */
export function createMemberScanner(names: readonly string[], sink: MemberSink, mostRest: number): MemberScanner {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let depth = 0;
  /** Within a text of the rest: what came of it, if it could be the name of a member. */
  let inText = false;
  let isEscaped = false;
  let name: number[] | undefined;
  let last: string | undefined;
  /** The named member whose value comes next. */
  let awaited: string | undefined;
  let isLarge = false;
  /** Of an escape that is not whole yet, what is missing; and of what its digits say. */
  let missing = 0;
  let code = 0;

  function keep(bytes: Buffer) {
    keptBytes += bytes.length;
    if (keptBytes > mostRest) throw new RestTooLarge('the JSON without its large members is too large');
    kept.push(Buffer.from(bytes));
  }

  /** One byte of the rest. True where a large text begins behind it. */
  function step(byte: number): boolean {
    if (inText) {
      if (byte === QUOTE && !isEscaped) {
        inText = false;
        last = name && nameOf(name);
        name = undefined;
      } else {
        name?.push(byte);
        isEscaped = byte === BACKSLASH && !isEscaped;
      }
      return false;
    }
    if (WHITE.has(byte)) return false;
    if (byte === QUOTE) {
      if (awaited !== undefined) return true;
      inText = true;
      isEscaped = false;
      name = depth === 1 ? [] : undefined;
      return false;
    }
    awaited = byte === COLON && depth === 1 && last !== undefined && names.includes(last) ? last : undefined;
    last = undefined;
    if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    return false;
  }

  /** Scans the rest from `from`: up to behind the quote that a large text begins with, or the end. */
  function scan(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !isLarge) {
      if (step(bytes[at]!)) isLarge = true;
      at++;
      if (keptBytes + at - from > mostRest) break;
    }
    keep(bytes.subarray(from, at));
    return at;
  }

  /** Passes on a large text from `from`; answers where it ends: at its quote, or behind all that came. */
  async function pass(bytes: Buffer, from: number): Promise<number> {
    // Where nothing is escaped, it is passed on as it came.
    let plain: Buffer | undefined;
    let length = 0;
    let at = from;
    let quote = -1;
    let backslash = -1;
    while (at < bytes.length) {
      if (missing > 0) {
        plain ??= Buffer.allocUnsafe(bytes.length - from);
        const meant = escaped(bytes[at++]!);
        if (meant !== undefined && meant !== NOTHING) plain[length++] = meant;
        continue;
      }
      // Each is looked for once for all that lies before it.
      if (quote < at) quote = placeOf(bytes, QUOTE, at);
      // Escapes mostly follow each other where there are many.
      if (backslash < at) backslash = bytes[at] === BACKSLASH ? at : placeOf(bytes, BACKSLASH, at);
      const end = Math.min(quote, backslash);
      if (end === backslash && end < bytes.length) plain ??= Buffer.allocUnsafe(bytes.length - from);
      if (plain && end > at) bytes.copy(plain, length, at, end);
      length += end - at;
      at = end;
      if (end === quote) break;
      missing = KIND;
      at++;
    }
    if (length > 0) await sink.text(plain ? plain.subarray(0, length) : bytes.subarray(from, from + length));
    return at;
  }

  /** Takes one more byte of an escape; undefined while it is not whole. */
  function escaped(byte: number): number | undefined {
    if (missing === KIND) {
      code = 0;
      missing = byte === U ? DIGITS : 0;
      return missing > 0 ? undefined : byte === SLASH ? SLASH : byte === N || byte === R ? NOTHING : NOT_BASE64;
    }
    code = code * 16 + (DIGIT_OF[byte] ?? Number.NaN);
    missing--;
    return missing > 0 ? undefined : meantBy(code);
  }

  return {
    async feed(bytes) {
      for (let at = 0; at < bytes.length; ) {
        if (!isLarge) {
          at = scan(bytes, at);
          if (isLarge) await sink.begin(awaited ?? '');
          continue;
        }
        at = await pass(bytes, at);
        if (at === bytes.length) return;
        // Its quote is one of the rest again: an empty text is left.
        isLarge = false;
        awaited = undefined;
        keep(bytes.subarray(at, at + 1));
        at++;
        await sink.end();
      }
    },
    rest: () => Buffer.concat(kept),
  };
}

const placeOf = (bytes: Buffer, wanted: number, from: number): number => {
  const at = bytes.indexOf(wanted, from);
  return at < 0 ? bytes.length : at;
};

/** As JSON reads it: a name may be written with escapes. */
function nameOf(bytes: readonly number[]): string | undefined {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString()}"`));
  } catch {
    return undefined;
  }
}

/** Not a number, where a digit was none. */
function meantBy(code: number): number {
  if (code === 0x0a || code === 0x0d) return NOTHING;
  return code > 0x20 && code < 0x7f ? code : NOT_BASE64;
}
