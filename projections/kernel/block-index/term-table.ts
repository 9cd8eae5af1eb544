/**
 * Stored tables of a block's terms with the chunks that have them. They must be encrypted, as terms can be guessed. An
 * entry has 20 bits of a term's hash and a bit per chunk: with 9,000 terms one of 1,600 lookups is a false positive in
 * sections, and one of 110 in a single table.
 */
import { CHUNK_BITS, chunkBit, mixBits, type TermSet } from './term-set.js';

/** Sorted entries. */
export type TermTable = Uint32Array;

const SECTION_BITS = 4;
/** A full block's table has sections by the upper bits of the hash, so that a query decrypts only those of its terms. */
const SECTIONS = 2 ** SECTION_BITS;
const ALL_CHUNKS = 2 ** CHUNK_BITS - 1;

const sectionOf = (hash: number): number => hash >>> (32 - SECTION_BITS);
const entryOf = (hash: number, chunks: number): number => (((hash << SECTION_BITS) & ~ALL_CHUNKS) | chunks) >>> 0;

/** Name of the section with the term. */
export const termSection = (term: number): string => String(sectionOf(mixBits(term)));

export function encodeTermTable(terms: TermSet): Uint8Array {
  const entries: number[] = [];
  terms.forEach((term, chunks) => void entries.push(entryOf(mixBits(term), chunks)));
  return bytesOf(entries);
}

/** The table by section; every block has the same number of them. */
export function encodeTermSections(terms: TermSet): ReadonlyMap<string, Uint8Array> {
  const sections = Array.from({ length: SECTIONS }, (): number[] => []);
  terms.forEach((term, chunks) => {
    const hash = mixBits(term);
    sections[sectionOf(hash)]!.push(entryOf(hash, chunks));
  });
  return new Map(sections.map((entries, nth) => [String(nth), bytesOf(entries)]));
}

const bytesOf = (entries: readonly number[]): Uint8Array => new Uint8Array(Uint32Array.from(entries).sort().buffer);

/** Copies the bytes, as they may not be aligned. */
export const decodeTermTable = (bytes: Uint8Array): TermTable => new Uint32Array(new Uint8Array(bytes).buffer);

/** Returns a test of chunks: false means that no record of the chunk has all of the terms. */
export function chunksWithAll(table: TermTable, terms: readonly number[]): (chunk: number) => boolean {
  const mask = terms.reduce((chunks, term) => chunks & chunksWith(table, term), ALL_CHUNKS);
  return (chunk) => (mask & chunkBit(chunk)) !== 0;
}

function chunksWith(table: TermTable, term: number): number {
  const first = entryOf(mixBits(term), 0);
  let [low, high] = [0, table.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (table[middle]! < first) low = middle + 1;
    else high = middle;
  }
  let chunks = 0;
  // Several terms may have the same bits.
  for (; low < table.length && table[low]! - first <= ALL_CHUNKS; low++) chunks |= table[low]!;
  return chunks & ALL_CHUNKS;
}
