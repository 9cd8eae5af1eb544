/** Runs of the index whose texts are at hand, and how words are found in them. */
import type { SearchQuery, WantedWord } from '../../../application/chat/search.js';
import { type Doc, textOf } from './rows.js';

export interface OpenRun {
  /** Oldest first. */
  readonly docs: readonly Doc[];
  /** In the same order, as words are found in them. */
  readonly texts: readonly string[];
  readonly all: string;
}

export function openRun(docs: readonly Doc[]): OpenRun {
  const texts = docs.map(textOf);
  return { docs, texts, all: texts.join('\n') };
}

/** What a run takes in memory, about, in bytes. */
export const sizeOf = ({ all, docs }: OpenRun): number => 4 * all.length + 400 * docs.length + 200;

/** Those that are asked for, newest first. */
export function* foundIn(
  { docs, texts, all }: OpenRun,
  { words, authorId, from, to }: SearchQuery,
): Generator<Doc> {
  const isInAll = words.map(({ text }) => all.includes(text));
  if (words.some(({ authors }, index) => !isInAll[index] && authors.size === 0)) return;
  for (let index = docs.length - 1; index >= 0; index--) {
    const doc = docs[index]!;
    if (authorId !== undefined && doc.author !== authorId) continue;
    if (from !== undefined && doc.createdAt < from) continue;
    if (to !== undefined && doc.createdAt > to) continue;
    if (words.every((word) => isIn(word, doc, texts[index]!))) yield doc;
  }
}

const isIn = ({ text, authors }: WantedWord, { author }: Doc, within: string): boolean =>
  within.includes(text) || authors.has(author);
