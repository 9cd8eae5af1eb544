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

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [OPENING, CLOSING] = [new Set([0x7b, 0x5b]), new Set([0x7d, 0x5d])];
const WHITE = new Set([0x20, 0x09, 0x0a, 0x0d]);
/** The longest start of a text without a quote or an incomplete escape. */
const CONTENT = /[^"\\]*(?:\\(?:u.{4}|[^u])[^"\\]*)*/sy;
const ESCAPE = /\\(?:u(.{4})|([^u]))/gs;
const NOT_BASE64 = '!';
const NOTHING = Buffer.alloc(0);

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
  /** An escape that is not complete yet. */
  let incomplete = NOTHING;

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
    const input = Buffer.concat([incomplete, bytes.subarray(from)]);
    const hasEscapes = input.includes(BACKSLASH);
    const end = hasEscapes ? contentLength(input.toString('latin1')) : indexOfOrEnd(input, QUOTE);
    const content = input.subarray(0, end);
    if (end > 0) await sink.text(hasEscapes ? decodeEscapes(content) : content);
    const isEnd = input[end] === QUOTE;
    const at = isEnd ? from + end - incomplete.length : bytes.length;
    incomplete = isEnd ? NOTHING : input.subarray(end);
    return at;
  }

  return {
    /** Resolves when the sink has taken all text of large members in these bytes. */
    async feed(bytes: Buffer): Promise<void> {
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
    rest: (): Buffer => Buffer.concat(restChunks),
  };
}

const indexOfOrEnd = (bytes: Buffer, byte: number): number => {
  const at = bytes.indexOf(byte);
  return at < 0 ? bytes.length : at;
};

function contentLength(text: string): number {
  CONTENT.lastIndex = 0;
  CONTENT.test(text);
  return CONTENT.lastIndex;
}

/** Decodes a member name, which may contain escapes. */
function nameOf(bytes: readonly number[]): string | undefined {
  try {
    return String(JSON.parse(`"${Buffer.from(bytes).toString()}"`));
  } catch {
    return undefined;
  }
}

/** Skips escaped line ends; whatever else is escaped and not in base64 becomes a character that is invalid in it. */
const decodeEscapes = (content: Buffer): Buffer =>
  Buffer.from(
    content.toString('latin1').replace(ESCAPE, (_, digits?: string, kind?: string) => {
      if (kind !== undefined) return kind === '/' ? '/' : kind === 'n' || kind === 'r' ? '' : NOT_BASE64;
      const character = String.fromCharCode(Number(`0x${digits}`));
      return /[\r\n]/.test(character) ? '' : /[!-~]/.test(character) ? character : NOT_BASE64;
    }),
    'latin1',
  );
