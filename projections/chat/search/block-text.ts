/** Folded texts of a block's messages in one buffer, searched without creating strings. */
import { type Doc, textOf } from './blocks.js';

export interface DocQuery {
  readonly words: readonly DocWord[];
  readonly authorId?: string | undefined;
  /** Unix ms, both inclusive. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface DocWord {
  /** Folded, as UTF-8. */
  readonly bytes: Buffer;
  /** Authors with names that contain the word. */
  readonly authors: ReadonlySet<string>;
}

export interface BlockText {
  readonly docs: readonly Doc[];
  readonly texts: Buffer;
  /** End of each doc's text. */
  readonly ends: Uint32Array;
  /** Approximate bytes in memory. */
  readonly size: number;
}

/** Bytes of a doc in memory, without its content. */
const DOC_BYTES = 400;

export function blockText(docs: readonly Doc[]): BlockText {
  const lines = docs.map((doc) => `${textOf(doc)}\n`);
  // Allocated outside the pool: a small cached buffer would retain its whole pool slab.
  const texts = Buffer.allocUnsafeSlow(lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0));
  const ends = new Uint32Array(docs.length);
  let end = 0;
  for (const [index, line] of lines.entries()) {
    end += texts.write(line, end);
    ends[index] = end;
  }
  return { docs, texts, ends, size: 3 * texts.length + DOC_BYTES * (1 + docs.length) };
}

/** Matching docs, oldest first. */
export function findDocs(block: BlockText, query: DocQuery): readonly Doc[] {
  const [first, ...more] = query.words;
  const { authorId, from = -Infinity, to = Infinity } = query;
  if (!first) return [];
  return indexesOf(block, first).flatMap((index) => {
    const doc = block.docs[index]!;
    const { author, createdAt } = doc;
    if (createdAt < from || createdAt > to || (authorId !== undefined && author !== authorId)) return [];
    return more.every((word) => word.authors.has(author) || hasWord(block, index, word)) ? doc : [];
  });
}

function indexesOf({ docs, texts, ends }: BlockText, { bytes, authors }: DocWord): readonly number[] {
  const found: number[] = [];
  let index = 0;
  for (let at = texts.indexOf(bytes); at >= 0; at = texts.indexOf(bytes, ends[index++])) {
    while (ends[index]! <= at) index++;
    found.push(index);
  }
  if (authors.size === 0) return found;
  const both = new Set(found);
  for (const [other, { author }] of docs.entries()) if (authors.has(author)) both.add(other);
  return [...both].sort((a, b) => a - b);
}

const hasWord = ({ texts, ends }: BlockText, index: number, { bytes }: DocWord): boolean =>
  texts.subarray(index === 0 ? 0 : ends[index - 1], ends[index]).includes(bytes);
