/**
 * Rows of the search index. A run holds consecutive messages of a channel; a pack holds the texts of 16 runs for
 * searching. Both are sealed.
 */
import { Binary, type IndexDescription, type Long } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { messageSubject } from '../../../domain/chat/events/messages.js';
import { foldText } from '../../../domain/chat/text-search.js';

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
  /** Deleted. It stays, so that later docs keep their line numbers. */
  readonly gone?: true;
}

interface SpanRow {
  /** Channel, and position of the first message. */
  readonly _id: string;
  readonly _at: Long;
  readonly channel: string;
  /** Positions of the first and last message. */
  readonly first: Long;
  readonly last: Long;
  readonly authors: readonly string[];
}

/** Consecutive messages of a channel. */
export interface RunRow extends SpanRow {
  /** Characters of all docs added. */
  readonly size: number;
  readonly ids: readonly string[];
  /** Ids of messages with replies in it. */
  readonly threads: readonly string[];
  /** One line of JSON per doc. */
  readonly docs: Binary;
  /** Not packed yet: searched by itself. */
  readonly open?: true;
}

/** Consecutive runs, searched as one buffer. */
export interface PackRow extends SpanRow {
  /** Encoded `Texts`. */
  readonly texts: Binary;
  /** Bloom filter of all n-grams. */
  readonly filter: Binary;
}

export const RUNS = 'runs';
export const PACKS = 'packs';

export const RUN_INDEXES: IndexDescription[] = [
  { key: { open: 1, _at: 1 }, name: 'open' },
  { key: { channel: 1, open: 1, first: 1 }, name: 'channel' },
  { key: { ids: 1 }, name: 'ids' },
  { key: { threads: 1 }, name: 'threads' },
];
export const PACK_INDEXES: IndexDescription[] = [
  { key: { _at: 1 }, name: 'at' },
  { key: { channel: 1, first: 1 }, name: 'channel' },
];

/** A pack has the id of its first run. */
export const idOf = (channel: string, first: bigint): string => `${channel} ${first.toString(36).padStart(13, '0')}`;

/** Key subject of a channel's or conversation's content. */
export const subjectOf = (channel: string): string => messageSubject({ channelId: channel });

/**
 * Maximum size of a folded text, in bytes plus characters: 256 texts and their filter fit into one document. Only
 * letters that fold to many (`ﷺ` to 18), or 50 long names in such scripts, reach it.
 */
const MAX_TEXT = 63_000;

/** Searchable text: names, then content, truncated. No word matches across lines. */
export function textOf({ content, names = [], botName = '' }: Pick<Doc, 'content' | 'names' | 'botName'>): string {
  let text = foldText([botName, ...names, content].join('\n'));
  while (Buffer.byteLength(text) + text.length > MAX_TEXT) text = text.slice(0, text.length * 0.95);
  return text;
}

/** Message id of a reply's thread. */
export const threadOf = (id: string): string | undefined =>
  id.includes('.') ? id.slice(0, id.indexOf('.')) : undefined;

/** Undefined when the key was destroyed. */
export async function openDocs(
  vault: Vault,
  { channel, docs }: Pick<RunRow, 'channel' | 'docs'>,
): Promise<readonly Doc[] | undefined> {
  const bytes = await vault.openBytes(subjectOf(channel), docs.buffer);
  return bytes && linesOf(bytes).map((line) => JSON.parse(line));
}

/** Lines of decrypted `docs`. */
export const linesOf = (docs: Uint8Array): readonly string[] => Buffer.from(docs).toString().split('\n');

/** Seals docs, with the plain fields derived from them; undefined when the key was destroyed. */
export async function sealDocs(
  vault: Vault,
  channel: string,
  docs: readonly Doc[],
): Promise<Pick<RunRow, 'ids' | 'threads' | 'authors' | 'docs'> | undefined> {
  const lines = docs.map((doc) => JSON.stringify(doc)).join('\n');
  const sealed = await vault.sealBytes(subjectOf(channel), Buffer.from(lines));
  return (
    sealed && {
      ids: docs.map(({ id }) => id),
      threads: unique(docs.flatMap(({ id }) => threadOf(id) ?? [])),
      authors: unique(docs.flatMap(({ author, gone }) => (gone ? [] : author))),
      docs: new Binary(sealed),
    }
  );
}

export const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];
