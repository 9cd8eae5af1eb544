/** Splits text into words. */

/** ASCII letters, digits and `_`, and all non-ASCII characters except spaces and punctuation. */
export const isWordCharacter = (code: number): boolean =>
  code < 128
    ? (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
    : code > 0xbf && !(code >= 0x2000 && code <= 0x206f) && !(code >= 0x3000 && code <= 0x303f);

/** Lower-case words. The text is lowered as a whole first, because that can change its length outside ASCII. */
export function tokenize(text: string): string[] {
  const lower = text.toLowerCase();
  const words: string[] = [];
  let from = -1;
  for (let at = 0; at <= lower.length; at++) {
    const inWord = at < lower.length && isWordCharacter(lower.charCodeAt(at));
    if (inWord && from < 0) from = at;
    else if (!inWord && from >= 0) {
      words.push(lower.slice(from, at));
      from = -1;
    }
  }
  return words;
}
