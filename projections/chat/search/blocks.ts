/** Rows of the search index: each holds consecutive messages of a channel, sealed. Full ones have a Bloom filter. */
import { Binary, type IndexDescription, type Long } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { Position, Vault } from '../../../application/ports/index.js';
import { messageSubject, parentOf } from '../../../domain/chat/events/messages.js';
import { foldText, ngramsOf } from '../../../domain/chat/text-search.js';
import { createTermSet, longOf, makeBloomFilter, type RowWrite } from '../../kernel/index.js';

/** An indexed message or reply. */
export interface Doc {
  readonly id: string;
  readonly author: string;
  readonly createdAt: number;
  /** Positions of the event that posted it, and of the last one that changed it. */
  readonly posted: string;
  readonly changed: string;
  readonly content: string;
  /** Names of its attachments. */
  readonly names?: readonly string[];
  /** Name of the webhook that posted it. */
  readonly botName?: string;
}

export interface Block {
  readonly id: string;
  readonly channel: string;
  /** Positions of the first and last message added, and of the last change. */
  readonly first: Position;
  last: Position;
  at: Position;
  /** Characters of the texts of all docs added. */
  size: number;
  docs: Doc[];
  isFull: boolean;
}

export interface BlockRow {
  /** Channel, and position of the first message. */
  readonly _id: string;
  readonly _at: Long;
  readonly channel: string;
  readonly first: Long;
  readonly last: Long;
  readonly size: number;
  readonly ids: readonly string[];
  /** Ids of messages with replies in it. */
  readonly threads: readonly string[];
  readonly authors: readonly string[];
  /** One line of JSON per doc. */
  readonly docs: Binary;
  readonly isFull: boolean;
  /** Bloom filter of all n-grams, once the block is full. */
  readonly filter?: Binary;
}

export const BLOCKS = 'blocks';

export const BLOCK_INDEXES: IndexDescription[] = [
  { key: { _at: 1 }, name: 'at' },
  { key: { channel: 1, first: 1 }, name: 'channel' },
  { key: { ids: 1 }, name: 'ids' },
  { key: { threads: 1 }, name: 'threads' },
];

export const idOf = (channel: string, first: bigint): string => `${channel} ${first.toString(36).padStart(13, '0')}`;

/** Key subject of a channel's or conversation's content. */
export const subjectOf = (channel: string): string => messageSubject({ channelId: channel });

/**
 * Maximum size of a folded text, in bytes plus characters. Only letters that fold to many (`ﷺ` to 18), or 50 long names
 * in such scripts, reach it.
 */
const MAX_TEXT = 63_000;

/** Searchable text: names, then content, truncated. No word matches across lines. */
export function textOf({ content, names = [], botName = '' }: Pick<Doc, 'content' | 'names' | 'botName'>): string {
  let text = foldText([botName, ...names, content].join('\n'));
  while (Buffer.byteLength(text) + text.length > MAX_TEXT) text = text.slice(0, text.length * 0.95);
  return text;
}

/** Empty when the key was destroyed. */
export async function openDocs(vault: Vault, { channel, docs }: Pick<BlockRow, 'channel' | 'docs'>): Promise<Doc[]> {
  const bytes = await vault.openBytes(subjectOf(channel), docs.buffer);
  return bytes && bytes.length > 0
    ? Buffer.from(bytes)
        .toString()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
}

/** Writes a block; deletes its row when the key was destroyed. */
export async function writeOf(vault: Vault, block: Block): Promise<RowWrite> {
  const { id: _id, channel, size, docs, isFull } = block;
  const subject = subjectOf(channel);
  const sealed = await vault.sealBytes(subject, Buffer.from(docs.map((doc) => JSON.stringify(doc)).join('\n')));
  const filter = isFull ? await vault.sealBytes(subject, await filterFor(docs)) : undefined;
  if (!sealed) return { deleteOne: { filter: { _id } } };
  const [_at, first, last] = [longOf(block.at), longOf(block.first), longOf(block.last)];
  const replacement = {
    _id,
    _at,
    channel,
    first,
    last,
    size,
    isFull,
    ids: docs.map(({ id }) => id),
    threads: unique(docs.flatMap(({ id }) => parentOf(id) ?? [])),
    authors: unique(docs.map(({ author }) => author)),
    docs: new Binary(sealed),
    ...(filter && { filter: new Binary(filter) }),
  };
  return { replaceOne: { filter: { _id, _at: { $lt: _at } }, replacement, upsert: true } };
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

/** Filters of a million messages take about 25 MiB. */
const BITS_PER_NGRAM = 8;

async function filterFor(docs: readonly Doc[]): Promise<Uint8Array> {
  const ngrams = createTermSet();
  const yieldIfDue = createYielder();
  for (const doc of docs) {
    ngramsOf(textOf(doc), (ngram) => ngrams.add(ngram));
    await yieldIfDue();
  }
  return makeBloomFilter(ngrams, BITS_PER_NGRAM * ngrams.size);
}
