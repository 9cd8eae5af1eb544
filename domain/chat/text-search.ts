/** How texts are found by parts of their words: folded, cut into short pieces, and ruled out by a filter of these. */

const MARKS = /\p{M}+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
const ASCII = /^[\x00-\x7f]*$/;

/**
 * Folds case, accents and width, for the index and for queries alike. Upper case in between is full case folding: it
 * writes out what lower case keeps apart (`ß`, `ẞ`, final sigma). NFC at the end only puts Korean syllables together again.
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  // Marks go first: a long run of them makes normalization quadratic.
  const plain = text.replace(MARKS, '').normalize('NFKD').replace(MARKS, '');
  return plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** Different ones that may be asked for at once: each is looked for in every name, and in what is not ruled out. */
export const MOST_WORDS = 32;

/** What is asked for: words, each of which is to be found. */
export const wordsOf = (query: string): readonly string[] => [
  ...new Set(
    foldText(query)
      .split(/\s+/u)
      .filter((word) => word !== ''),
  ),
];

/** So many characters has a piece of a word. */
const PIECE = 4;
const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** No word that is asked for has any of these. */
const isGap = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** FNV-1a of all pieces of a folded text, some of them more than once. */
export function ngramsOf(text: string, found: (piece: number) => void): void {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    length = isGap(text.charCodeAt(at)) ? 0 : length + 1;
    if (length >= PIECE) found(pieceAt(text, at + 1 - PIECE));
  }
}

/** The pieces that every text has in which the word is found: none, where it is too short. */
export function piecesOfWord(word: string): readonly number[] {
  const pieces: number[] = [];
  for (let at = 0; at + PIECE <= word.length; at++) pieces.push(pieceAt(word, at));
  return pieces;
}

function pieceAt(text: string, from: number): number {
  let hash = SEED;
  for (let at = from; at < from + PIECE; at++) hash = Math.imul(hash ^ text.charCodeAt(at), PRIME);
  return hash;
}

/** Bits that a piece sets, of 8 that there are for each: it is found in one filter of 40 that does not have it. */
const PROBES = 4;

/** A Bloom filter. Pieces can be guessed: it is to be sealed. */
export function bloomFilterOf(pieces: ReadonlySet<number>): Uint8Array {
  const filter = new Uint8Array(Math.max(8, pieces.size));
  const bits = filter.length * 8;
  for (const piece of pieces) {
    const step = stepOf(piece);
    let place = beginOf(piece);
    for (let count = 0; count < PROBES; count++) {
      const at = (place >>> 0) % bits;
      filter[at >>> 3]! |= 1 << (at & 7);
      place = (place + step) | 0;
    }
  }
  return filter;
}

/** False only for what it has not. */
export function mightContain(filter: Uint8Array, piece: number): boolean {
  const [bits, step] = [filter.length * 8, stepOf(piece)];
  let place = beginOf(piece);
  for (let count = 0; count < PROBES; count++) {
    const at = (place >>> 0) % bits;
    if ((filter[at >>> 3]! & (1 << (at & 7))) === 0) return false;
    place = (place + step) | 0;
  }
  return true;
}

/** Where a piece is looked for first, and how far on each time after that. */
const beginOf = (piece: number): number => Math.imul(piece ^ (piece >>> 16), 0x85ebca6b);
const stepOf = (piece: number): number => Math.imul(piece ^ (piece >>> 13), 0xc2b2ae35) | 1;
