/** Decodes base64 incrementally; skips the prefix of a data URL. */

/** Maximum characters of a prefix such as `data:image/png;base64,`. */
const MAX_PREFIX = 256;
const DATA_URL = /^data:[^,]*;base64$/i;
const PAD = 0x3d;
/** Characters of base64url, which is a different encoding. */
const BASE64URL_CHARACTERS: readonly number[] = [0x2d, 0x5f];

export function createBase64() {
  /** The input so far, while it may still be a data URL prefix. */
  let prefix: Buffer | undefined = NOTHING;
  /** Fewer than four characters, completed by the next chunk. */
  let carry = '';
  let padding = 0;

  function decode(text: Buffer): Buffer | undefined {
    if (BASE64URL_CHARACTERS.some((each) => text.includes(each))) return undefined;
    const end = text.indexOf(PAD);
    const digits = end < 0 ? text : text.subarray(0, end);
    if (padding > 0 && digits.length > 0) return undefined;
    if (end >= 0) {
      if (text.subarray(end).some((each) => each !== PAD)) return undefined;
      padding += text.length - end;
      if (padding > 2) return undefined;
    }
    const all = carry + digits.toString('latin1');
    const whole = all.length - (all.length % 4);
    carry = all.slice(whole);
    return decodeExactly(all.slice(0, whole), (whole / 4) * 3);
  }

  /** Returns the base64 after the prefix; undefined while more input is needed. */
  function skipPrefix(text: Buffer): Buffer | undefined {
    const input = Buffer.concat([prefix ?? NOTHING, text]);
    const isUrl = /^data:/i.test(input.toString('latin1', 0, 5));
    const comma = input.subarray(0, MAX_PREFIX).indexOf(',');
    prefix = input;
    if (!isUrl && input.length >= 5) return input;
    if (!isUrl || (comma < 0 && input.length < MAX_PREFIX)) return undefined;
    // An invalid data URL is kept as it is and fails as base64.
    return DATA_URL.test(input.toString('latin1', 0, comma)) ? input.subarray(comma + 1) : input;
  }

  return {
    /** Returns newly decoded bytes; undefined for invalid base64. */
    push(text: Buffer): Buffer | undefined {
      if (prefix === undefined) return decode(text);
      const rest = skipPrefix(text);
      if (rest === undefined) return NOTHING;
      prefix = undefined;
      return decode(rest);
    },
    /** Returns the last bytes; undefined if the input is incomplete. */
    end(): Buffer | undefined {
      // Input shorter than `data:` has not been decoded yet.
      const first = prefix === undefined ? NOTHING : decode(prefix);
      if (first === undefined || carry.length === 1) return undefined;
      if (padding > 0 && (carry.length + padding) % 4 !== 0) return undefined;
      const last = decodeExactly(carry, Math.floor((carry.length * 3) / 4));
      return last && Buffer.concat([first, last]);
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** Node skips characters that are not base64, which shows in the decoded length. */
function decodeExactly(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length ? bytes : undefined;
}
