/** Extracts large string members of the outermost JSON object while it arrives; each leaves an empty string. */

export interface MemberSink {
  begin(name: string): Promise<void>;
  text(chunk: Buffer): Promise<void>;
  end(): Promise<void>;
}

/** The JSON without the large members exceeds its limit. */
export class RestTooLarge extends Error {
  override readonly name = 'RestTooLarge';
}

const [QUOTE, BACKSLASH, COLON, U] = [0x22, 0x5c, 0x3a, 0x75];
const [OPENING, CLOSING] = [new Set([0x7b, 0x5b]), new Set([0x7d, 0x5d])];
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** Escapes within base64: line ends are skipped, and anything else becomes a character that is invalid in base64. */
const [SLASH, N, R] = [0x2f, 0x6e, 0x72];
const SKIP = -1;
const NOT_BASE64 = 0x21;
/** State of an escape: its kind is expected next, or this many digits. */
const EXPECT_KIND = 5;
const EXPECT_DIGITS = 4;
/** Value of a hexadecimal digit by byte. */
const DIGIT_VALUES = Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16));

/** @param maxRest Maximum bytes of the JSON without its large members. */
export function createMemberScanner(names: readonly string[], sink: MemberSink, maxRest: number) {
  const restChunks: Buffer[] = [];
  let restBytes = 0;
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  /** Bytes of the current string, if it may be a member name. */
  let name: number[] | undefined;
  /** The lastName string, if it may be a member name. */
  let lastName: string | undefined;
  /** Name of the large member, after its colon. */
  let expectedMember: string | undefined;
  let isLarge = false;
  /** State of an incomplete escape: 0, `EXPECT_KIND` or the number of digits expected. */
  let escapeState = 0;
  let code = 0;

  function addRest(bytes: Buffer) {
    restBytes += bytes.length;
    if (restBytes > maxRest) throw new RestTooLarge('the JSON without its large members is too large');
    restChunks.push(Buffer.from(bytes));
  }

  /** Scans one byte of the rest. True if a large member starts after it. */
  function step(byte: number): boolean {
    if (inText) {
      if (byte === QUOTE && !isEscaped) {
        inText = false;
        lastName = name && nameOf(name);
        name = undefined;
      } else {
        name?.push(byte);
        isEscaped = byte === BACKSLASH && !isEscaped;
      }
      return false;
    }
    if (WHITE.has(byte)) return false;
    if (byte === QUOTE) {
      if (expectedMember !== undefined) return true;
      inText = true;
      isEscaped = false;
      name = depth === 1 ? [] : undefined;
      return false;
    }
    expectedMember =
      byte === COLON && depth === 1 && lastName !== undefined && names.includes(lastName) ? lastName : undefined;
    lastName = undefined;
    if (OPENING.has(byte)) depth++;
    else if (CLOSING.has(byte)) depth--;
    return false;
  }

  /** Scans the rest from `from` to after the opening quote of a large member, or to the end; returns the position. */
  function scan(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !isLarge) {
      if (step(bytes[at]!)) isLarge = true;
      at++;
      if (restBytes + at - from > maxRest) break;
    }
    addRest(bytes.subarray(from, at));
    return at;
  }

  /** Forwards a large member from `from` to its closing quote or the end; returns the position. */
  async function forward(bytes: Buffer, from: number): Promise<number> {
    // Set only if there are escapes; otherwise the bytes are forwarded without a copy.
    let unescaped: Buffer | undefined;
    let length = 0;
    let at = from;
    let quote = -1;
    let backslash = -1;
    while (at < bytes.length) {
      if (escapeState > 0) {
        unescaped ??= Buffer.allocUnsafe(bytes.length - from);
        const byte = stepEscape(bytes[at++]!);
        if (byte !== undefined && byte !== SKIP) unescaped[length++] = byte;
        continue;
      }
      // Searched again only after the last match was passed.
      if (quote < at) quote = indexOfOrEnd(bytes, QUOTE, at);
      // Many escapes are usually adjacent, which needs no search.
      if (backslash < at) backslash = bytes[at] === BACKSLASH ? at : indexOfOrEnd(bytes, BACKSLASH, at);
      const end = Math.min(quote, backslash);
      if (end === backslash && end < bytes.length) unescaped ??= Buffer.allocUnsafe(bytes.length - from);
      if (unescaped && end > at) bytes.copy(unescaped, length, at, end);
      length += end - at;
      at = end;
      if (end === quote) break;
      escapeState = EXPECT_KIND;
      at++;
    }
    if (length > 0) await sink.text(unescaped ? unescaped.subarray(0, length) : bytes.subarray(from, from + length));
    return at;
  }

  /** Processes one byte of an escape; returns the byte it stands for, or undefined while incomplete. */
  function stepEscape(byte: number): number | undefined {
    if (escapeState === EXPECT_KIND) {
      code = 0;
      escapeState = byte === U ? EXPECT_DIGITS : 0;
      return escapeState > 0 ? undefined : byte === SLASH ? SLASH : byte === N || byte === R ? SKIP : NOT_BASE64;
    }
    code = code * 16 + (DIGIT_VALUES[byte] ?? Number.NaN);
    escapeState--;
    return escapeState > 0 ? undefined : byteOfCode(code);
  }

  return {
    /** Resolves when the sink has taken all text of large members in these bytes. */
    async feed(bytes: Buffer) {
      for (let at = 0; at < bytes.length; ) {
        if (!isLarge) {
          at = scan(bytes, at);
          if (isLarge) await sink.begin(expectedMember ?? '');
          continue;
        }
        at = await forward(bytes, at);
        if (at === bytes.length) return;
        // The closing quote belongs to the rest, which keeps an empty string.
        isLarge = false;
        expectedMember = undefined;
        addRest(bytes.subarray(at, at + 1));
        at++;
        await sink.end();
      }
    },
    rest: () => Buffer.concat(restChunks),
  };
}

const indexOfOrEnd = (bytes: Buffer, byte: number, from: number): number => {
  const at = bytes.indexOf(byte, from);
  return at < 0 ? bytes.length : at;
};

/** Decodes a member name, which may contain escapes. */
function nameOf(bytes: readonly number[]): string | undefined {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString()}"`));
  } catch {
    return undefined;
  }
}

/** @param code NaN if a digit was invalid. */
function byteOfCode(code: number): number {
  if (code === 0x0a || code === 0x0d) return SKIP;
  return code > 0x20 && code < 0x7f ? code : NOT_BASE64;
}
