/** N-gram search: folds text and hashes its n-grams. */

const MARKS = /\p{M}+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Folds case, accents and width, for index and queries alike. The upper-case step is full case folding (`ß`, `ẞ`, final
 * sigma). The final NFC recomposes Korean syllables.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // Marks go first: a long run of them makes normalization quadratic.
  const plain = text.replace(MARKS, '').normalize('NFKD').replace(MARKS, '');
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** Distinct words per query: each is searched in every name and every candidate text. */
export const MAX_WORDS = 32;

export const wordsOf = (query: string): readonly string[] => [
  ...new Set(
    foldText(query)
      .split(/\s+/u)
      .filter((word) => word !== ''),
  ),
];

const NGRAM_LENGTH = 4;
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** White space, which no query word contains. */
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** Calls back with the FNV-1a hash of each n-gram of a folded text; may repeat. */
export function ngramsOf(text: string, found: (ngram: number) => void): void {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    length = isSpace(text.charCodeAt(at)) ? 0 : length + 1;
    if (length >= NGRAM_LENGTH) found(hashNgram(text, at + 1 - NGRAM_LENGTH));
  }
}

/** N-grams that every text containing the word has; none for short words. */
export function ngramsOfWord(word: string): readonly number[] {
  const ngrams: number[] = [];
  for (let at = 0; at + NGRAM_LENGTH <= word.length; at++) ngrams.push(hashNgram(word, at));
  return ngrams;
}

function hashNgram(text: string, from: number): number {
  let hash = SEED;
  for (let at = from; at < from + NGRAM_LENGTH; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}
