/** Messages of a block in compact form, searched without creating strings. */
import { sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
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
  /** Docs as lines of JSON, parsed only where they match. */
  readonly docs: Buffer;
  readonly docEnds: Uint32Array;
  /** Folded texts. */
  readonly texts: Buffer;
  readonly textEnds: Uint32Array;
  readonly authors: readonly string[];
  /** Unix ms. */
  readonly createdAt: Float64Array;
  /** Approximate bytes in memory. */
  readonly size: number;
}

/** Bytes of a doc and of a block in memory, without their texts. */
const DOC_BYTES = 24;
const OVERHEAD_BYTES = 1000;

/** `docs`: one line of JSON per doc. */
export async function blockText(docs: Uint8Array): Promise<BlockText> {
  const lines = docs.length === 0 ? [] : new TextDecoder().decode(docs).split('\n');
  const [docEnds, textEnds] = [new Uint32Array(lines.length), new Uint32Array(lines.length)];
  const createdAt = new Float64Array(lines.length);
  const authors: string[] = [];
  const distinct = new Map<string, string>();
  const texts: string[] = [];
  let [docEnd, textEnd] = [0, 0];
  for (const [index, line] of lines.entries()) {
    if (sliceExpired()) await yieldToEventLoop();
    const doc: Doc = JSON.parse(line);
    const text = `${textOf(doc)}\n`;
    if (!distinct.has(doc.author)) distinct.set(doc.author, doc.author);
    authors.push(distinct.get(doc.author)!);
    createdAt[index] = doc.createdAt;
    texts.push(text);
    docEnd += Buffer.byteLength(line) + 1;
    docEnds[index] = docEnd;
    textEnd += Buffer.byteLength(text);
    textEnds[index] = textEnd;
  }
  // Allocated outside the pool: a small cached buffer would retain its whole pool slab.
  const folded = Buffer.allocUnsafeSlow(textEnd);
  folded.write(texts.join(''));
  const own = Buffer.from(docs.buffer, docs.byteOffset, docs.byteLength);
  const size = own.length + folded.length + DOC_BYTES * lines.length + OVERHEAD_BYTES;
  return { docs: own, docEnds, texts: folded, textEnds, authors, createdAt, size };
}

/** Matching docs, oldest first. */
export function findDocs(block: BlockText, query: DocQuery): readonly Doc[] {
  const [first, ...more] = query.words;
  const { authorId, from = -Infinity, to = Infinity } = query;
  if (!first) return [];
  return indexesOf(block, first).flatMap((index) => {
    const [author, createdAt] = [block.authors[index]!, block.createdAt[index]!];
    if (createdAt < from || createdAt > to || (authorId !== undefined && author !== authorId)) return [];
    const isMatch = more.every((word) => word.authors.has(author) || hasWord(block, index, word));
    return isMatch ? docAt(block, index) : [];
  });
}

function docAt({ docs, docEnds }: BlockText, index: number): Doc {
  return JSON.parse(docs.toString('utf8', index === 0 ? 0 : docEnds[index - 1], docEnds[index]! - 1));
}

function indexesOf({ authors: all, texts, textEnds }: BlockText, { bytes, authors }: DocWord): readonly number[] {
  const found: number[] = [];
  let index = 0;
  for (let at = texts.indexOf(bytes); at >= 0; at = texts.indexOf(bytes, textEnds[index++])) {
    while (textEnds[index]! <= at) index++;
    found.push(index);
  }
  if (authors.size === 0) return found;
  const both = new Set(found);
  for (const [other, author] of all.entries()) if (authors.has(author)) both.add(other);
  return [...both].sort((a, b) => a - b);
}

const hasWord = ({ texts, textEnds }: BlockText, index: number, { bytes }: DocWord): boolean =>
  texts.subarray(index === 0 ? 0 : textEnds[index - 1], textEnds[index]).includes(bytes);
