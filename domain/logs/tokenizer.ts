/** What a word of a text is. */

/** Letters and digits of ASCII and `_` make words; beyond ASCII everything does but blanks and punctuation. */
export const isWordCode = (code: number): boolean =>
  code < 128
    ? (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
    : code > 0xbf && !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x303f);

/** The words of a text, in lower case; the whole is lowered first, for beyond ASCII that can change its length. */
export function wordsOf(text: string): string[] {
  const lower = text.toLowerCase();
  const words: string[] = [];
  let from = -1;
  for (let at = 0; at <= lower.length; at++) {
    const inside = at < lower.length && isWordCode(lower.charCodeAt(at));
    if (inside && from < 0) from = at;
    else if (!inside && from >= 0) {
      words.push(lower.slice(from, at));
      from = -1;
    }
  }
  return words;
}
