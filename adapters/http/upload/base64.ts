/** Base64 that comes in pieces, decoded piece by piece; what stands before it in a data URL is passed over. */

/** Characters of `data:image/png;base64,` and what else may stand there. */
const MOST_PREFIX = 256;
const DATA_URL = /^data:[^,]*;base64$/i;
const PAD = 0x3d;
/** Of the other alphabet, which is another encoding. */
const OF_URLS: readonly number[] = [0x2d, 0x5f];

export interface Base64 {
  /** The bytes of what came so far that were not given yet; undefined where it is no base64. */
  push(text: Buffer): Buffer | undefined;
  /** The last bytes; undefined where it broke off. */
  end(): Buffer | undefined;
}

export function createBase64(): Base64 {
  /** While it may still be the beginning of a data URL. */
  let prefix: Buffer | undefined = NOTHING;
  /** Fewer than four characters, which wait for the next. */
  let carried = '';
  let padding = 0;

  function decode(text: Buffer): Buffer | undefined {
    if (OF_URLS.some((each) => text.includes(each))) return undefined;
    const end = text.indexOf(PAD);
    const body = end < 0 ? text : text.subarray(0, end);
    if (padding > 0 && body.length > 0) return undefined;
    if (end >= 0) {
      if (text.subarray(end).some((each) => each !== PAD)) return undefined;
      padding += text.length - end;
      if (padding > 2) return undefined;
    }
    const all = carried + body.toString('latin1');
    const whole = all.length - (all.length % 4);
    carried = all.slice(whole);
    return exactly(all.slice(0, whole), (whole / 4) * 3);
  }

  /** Undefined while it can't be told what it is. */
  function behindPrefix(text: Buffer): Buffer | undefined {
    const begun = Buffer.concat([prefix ?? NOTHING, text]);
    const isUrl = /^data:/i.test(begun.toString('latin1', 0, 5));
    const comma = begun.subarray(0, MOST_PREFIX).indexOf(',');
    prefix = begun;
    if (!isUrl && begun.length >= 5) return begun;
    if (!isUrl || (comma < 0 && begun.length < MOST_PREFIX)) return undefined;
    // What is no data URL is left as it is, and is no base64 either.
    return DATA_URL.test(begun.toString('latin1', 0, comma)) ? begun.subarray(comma + 1) : begun;
  }

  return {
    push(text) {
      if (prefix === undefined) return decode(text);
      const rest = behindPrefix(text);
      if (rest === undefined) return NOTHING;
      prefix = undefined;
      return decode(rest);
    },
    end() {
      // Shorter than `data:`, it is what it is.
      const early = prefix === undefined ? NOTHING : decode(prefix);
      if (early === undefined || carried.length === 1) return undefined;
      if (padding > 0 && (carried.length + padding) % 4 !== 0) return undefined;
      const last = exactly(carried, Math.floor((carried.length * 3) / 4));
      return last && Buffer.concat([early, last]);
    },
  };
}

const NOTHING = Buffer.alloc(0);

/** What Node does not know in base64 it passes over: then there is less of it. */
function exactly(text: string, length: number): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === length ? bytes : undefined;
}
