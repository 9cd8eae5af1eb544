/** Packs of the search index: the texts of 16 runs of a channel in one row. */
import { Binary } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { bloomFilterOf, ngramsOf } from '../../../domain/chat/text-search.js';
import { type Build, longOf, type RowWrite } from '../../kernel/index.js';
import { encodeTexts, type Line, Texts } from './packed-text.js';
import { type Doc, idOf, PACKS, type PackRow, subjectOf, textOf, unique } from './rows.js';

interface Pack {
  readonly channel: string;
  readonly first: Position;
  readonly last: Position;
  at: Position;
  readonly lines: Line[];
}

interface Packed {
  readonly first: Position;
  readonly last: Position;
  readonly docs: readonly Doc[];
}

export interface Packs {
  /** Position up to which a channel's messages are packed; 0 when none are. */
  end(channel: string): Promise<Position>;
  /**
   * Packs runs. `position`: of the current event. Single runs may already include later changes, but the pack as a
   * whole does not.
   */
  add(channel: string, runs: readonly Packed[], position: Position): void;
  /** Updates a pack with the current docs of one of its runs. */
  change(channel: string, run: Packed, position: Position): Promise<void>;
  writes(): Promise<readonly RowWrite[]>;
}

export function startPacks({ vault, collection }: Pick<Build, 'vault' | 'collection'>): Packs {
  const rows = collection<PackRow>(PACKS);
  const dirty = new Map<string, Pack>();

  async function findPack(channel: string, first: Position): Promise<Pack | undefined> {
    for (const pack of dirty.values())
      if (pack.channel === channel && pack.first <= first && first <= pack.last) return pack;
    const [row] = await rows
      .find({ channel, first: { $lte: longOf(first) } })
      .sort({ first: -1 })
      .limit(1)
      .toArray();
    const bytes = row && (await vault.openBytes(subjectOf(channel), row.texts.buffer));
    // Without its key the channel is being erased.
    if (!bytes) return undefined;
    const [begin, last, at] = [row.first, row.last, row._at].map((each) => each.toBigInt());
    const pack = {
      channel,
      first: begin!,
      last: last!,
      at: at!,
      lines: new Texts(bytes, row.authors).lines(),
    };
    dirty.set(row._id, pack);
    return pack;
  }

  return {
    async end(channel) {
      const [row] = await rows
        .find({ channel })
        .project<Pick<PackRow, 'last'>>({ last: 1 })
        .sort({ first: -1 })
        .limit(1)
        .toArray();
      return row?.last.toBigInt() ?? 0n;
    },
    add(channel, runs, at) {
      const lines = runs.flatMap(({ docs }, run) => docs.map((doc) => lineOf(doc, run)));
      const { first } = runs[0]!;
      dirty.set(idOf(channel, first), { channel, first, last: runs.at(-1)!.last, at, lines });
    },
    async change(channel, { first, docs }, at) {
      const pack = await findPack(channel, first);
      const begin = pack?.lines.findIndex(({ posted }) => posted === first) ?? -1;
      if (!pack || begin < 0) return;
      const { run } = pack.lines[begin]!;
      for (const [index, doc] of docs.entries()) pack.lines[begin + index] = lineOf(doc, run);
      if (pack.at < at) pack.at = at;
    },
    async writes() {
      const writes: RowWrite[] = [];
      for (const [_id, { channel, at, lines, ...span }] of dirty) {
        const authors = unique(lines.flatMap(({ author }) => author ?? []));
        const texts = await vault.sealBytes(subjectOf(channel), encodeTexts(lines, authors));
        const filter = await vault.sealBytes(subjectOf(channel), await filterFor(lines));
        const [_at, first, last] = [longOf(at), longOf(span.first), longOf(span.last)];
        if (!texts || !filter) writes.push({ deleteOne: { filter: { _id } } });
        else {
          const sealed = { texts: new Binary(texts), filter: new Binary(filter) };
          const replacement = { _id, _at, channel, first, last, authors, ...sealed };
          writes.push({ replaceOne: { filter: { _id, _at: { $lt: _at } }, replacement, upsert: true } });
        }
      }
      dirty.clear();
      return writes;
    },
  };
}

/** Deleted docs get an empty text and match nothing. */
export const lineOf = (doc: Doc, run: number): Line => ({
  posted: BigInt(doc.posted),
  createdAt: doc.createdAt,
  author: doc.gone ? undefined : doc.author,
  run,
  text: doc.gone ? '' : textOf(doc),
});

async function filterFor(lines: readonly Line[]): Promise<Uint8Array> {
  const ngrams = new Set<number>();
  const yieldIfDue = createYielder();
  for (const { text } of lines) {
    ngramsOf(text, (ngram) => ngrams.add(ngram));
    await yieldIfDue();
  }
  return bloomFilterOf(ngrams);
}
