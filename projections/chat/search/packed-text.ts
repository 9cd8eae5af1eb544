/** Folded texts of many docs in one buffer, searched without creating strings. */
import type { Position } from '../../../application/ports/index.js';

export interface Line {
  /** Position of the event that posted it. */
  readonly posted: Position;
  /** Unix ms. */
  readonly createdAt: number;
  /** Undefined when deleted: it matches nothing. */
  readonly author: string | undefined;
  /** Index of its run within the pack. */
  readonly run: number;
  readonly text: string;
}

/** Query on lines. */
export interface LineQuery {
  readonly words: readonly LineWord[];
  readonly authorId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

export interface LineWord {
  /** Folded, as UTF-8. */
  readonly bytes: Buffer;
  /** Authors with names that contain the word. */
  readonly authors: ReadonlySet<string>;
}

/** Bytes per line header: `createdAt`, `posted`, end of text, author and run. */
const HEAD = 24;
const NOBODY = 0xffff;
/** Shared empty result. */
const NONE: readonly number[] = [];

/** Encodes the line count, line headers and texts. `authors` are the distinct authors of the lines. */
export function encodeTexts(lines: readonly Line[], authors: readonly string[]): Uint8Array {
  const texts = lines.map(({ text }) => `${text}\n`).join('');
  const head = 4 + HEAD * lines.length;
  // Allocated outside the pool: a small cached buffer would retain its whole pool slab.
  const bytes = Buffer.allocUnsafeSlow(head + Buffer.byteLength(texts));
  bytes.writeUInt32LE(lines.length);
  const numbers = new Map(authors.map((author, number) => [author, number]));
  let end = 0;
  for (const [slot, { posted, createdAt, author, run, text }] of lines.entries()) {
    const at = 4 + HEAD * slot;
    end += Buffer.byteLength(text) + 1;
    bytes.writeDoubleLE(createdAt, at);
    bytes.writeBigUInt64LE(posted, at + 8);
    bytes.writeUInt32LE(end, at + 16);
    bytes.writeUInt16LE(author === undefined ? NOBODY : numbers.get(author)!, at + 20);
    bytes.writeUInt16LE(run, at + 22);
  }
  bytes.write(texts, head);
  return bytes;
}

export class Texts {
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #texts: Buffer;
  readonly #authors: readonly string[];

  /** Takes the same `authors` as the encoding. */
  constructor(bytes: Uint8Array, authors: readonly string[]) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#authors = authors;
    this.count = this.#bytes.readUInt32LE();
    this.#texts = this.#bytes.subarray(4 + HEAD * this.count);
  }

  /** Approximate bytes in memory. */
  get size(): number {
    return this.#bytes.length + 500;
  }

  lines(): Line[] {
    return Array.from({ length: this.count }, (_, slot) => ({
      posted: this.posted(slot),
      createdAt: this.#bytes.readDoubleLE(4 + HEAD * slot),
      author: this.#author(slot),
      run: this.#run(slot),
      text: this.#texts.toString('utf8', this.#end(slot - 1), this.#end(slot) - 1),
    }));
  }

  posted(slot: number): Position {
    return this.#bytes.readBigUInt64LE(4 + HEAD * slot + 8);
  }

  /** First line of the run that contains a line. */
  beginOf(slot: number): number {
    let begin = slot;
    while (begin > 0 && this.#run(begin - 1) === this.#run(slot)) begin--;
    return begin;
  }

  /** Matching lines, oldest first. */
  find({ words: [first, ...more], authorId, from = -Infinity, to = Infinity }: LineQuery): readonly number[] {
    if (!first) return NONE;
    const some = this.#with(first);
    if (some.length === 0) return some;
    return some.filter((slot) => {
      const createdAt = this.#bytes.readDoubleLE(4 + HEAD * slot);
      if (createdAt < from || createdAt > to) return false;
      const author = this.#author(slot);
      if (author === undefined || (authorId !== undefined && author !== authorId)) return false;
      return more.every((word) => word.authors.has(author) || this.#isIn(slot, word));
    });
  }

  #with({ bytes, authors }: LineWord): readonly number[] {
    const begin = this.#texts.indexOf(bytes);
    // The common case.
    if (begin < 0 && authors.size === 0) return NONE;
    const found: number[] = [];
    let slot = 0;
    for (let at = begin; at >= 0; at = this.#texts.indexOf(bytes, this.#end(slot++))) {
      while (this.#end(slot) <= at) slot++;
      found.push(slot);
    }
    if (authors.size === 0) return found;
    const both = new Set(found);
    for (let other = 0; other < this.count; other++) if (authors.has(this.#author(other) ?? '')) both.add(other);
    return [...both].sort((a, b) => a - b);
  }

  #isIn(slot: number, { bytes }: LineWord): boolean {
    return this.#texts.subarray(this.#end(slot - 1), this.#end(slot)).includes(bytes);
  }

  #end(slot: number): number {
    return slot < 0 ? 0 : this.#bytes.readUInt32LE(4 + HEAD * slot + 16);
  }

  #run(slot: number): number {
    return this.#bytes.readUInt16LE(4 + HEAD * slot + 22);
  }

  #author(slot: number): string | undefined {
    return this.#authors[this.#bytes.readUInt16LE(4 + HEAD * slot + 20)];
  }
}
