/** What stands in the index of what was said: runs of messages of one place, and the texts of sixteen runs in one, sealed. */
import { Binary, type IndexDescription, type Long } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { conversationSubject, isDirect } from '../../../domain/chat/conversation-id.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { foldText } from '../../../domain/chat/text-search.js';

/** A message or reply as it is found. */
export interface Doc {
  readonly id: string;
  readonly author: string;
  readonly createdAt: number;
  /** Position of the event that posted it, and of the one that changed it last. */
  readonly posted: string;
  readonly changed: string;
  readonly content: string;
  /** Of its attachments. */
  readonly names?: readonly string[];
  /** What a webhook was called that said it. */
  readonly botName?: string;
  /** Deleted: it keeps its place, so that those behind it keep theirs. */
  readonly gone?: true;
}

interface SpanRow {
  /** The place, and the position of the first that came into it. */
  readonly _id: string;
  readonly _at: Long;
  readonly channel: string;
  /** Positions of the first and the last that came into it. */
  readonly first: Long;
  readonly last: Long;
  readonly authors: readonly string[];
}

/** Some that came to a place one after the other. */
export interface RunRow extends SpanRow {
  /** Characters of all that came into it. */
  readonly size: number;
  readonly ids: readonly string[];
  /** The messages whose replies are in it. */
  readonly threads: readonly string[];
  /** A line of JSON for each. */
  readonly docs: Binary;
  /** In no pack yet: words are looked for in it. */
  readonly open?: true;
}

/** Runs, one after the other, in which words are found at once. */
export interface PackRow extends SpanRow {
  /** `Texts`. */
  readonly texts: Binary;
  /** Of the pieces of all words. */
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

/** Also of a pack that begins with that run. */
export const idOf = (channel: string, first: bigint): string => `${channel} ${first.toString(36).padStart(13, '0')}`;

/** Under whose key it is sealed what is said there. */
export const subjectOf = (channel: string): string =>
  isDirect(channel) ? conversationSubject(channel) : channelSubject({ channelId: channel });

/**
 * Bound of a message's folded text, its bytes and characters added up: 256 of them and the filter of their pieces fit
 * into a document. Only letters that fold to many (`ﷺ` to 18), or 50 long names in such scripts, reach it.
 */
const MOST_TEXT = 63_000;

/** What words are found in: names, then content, cut at the bound. No word is found across a line. */
export function textOf({ content, names = [], botName = '' }: Pick<Doc, 'content' | 'names' | 'botName'>): string {
  let text = foldText([botName, ...names, content].join('\n'));
  while (Buffer.byteLength(text) + text.length > MOST_TEXT) text = text.slice(0, text.length * 0.95);
  return text;
}

/** The message in whose thread a reply is. */
export const threadOf = (id: string): string | undefined =>
  id.includes('.') ? id.slice(0, id.indexOf('.')) : undefined;

/** Undefined when the key is destroyed. */
export async function openDocs(
  vault: Vault,
  { channel, docs }: Pick<RunRow, 'channel' | 'docs'>,
): Promise<readonly Doc[] | undefined> {
  const bytes = await vault.openBytes(subjectOf(channel), docs.buffer);
  return bytes && linesOf(bytes).map((line) => JSON.parse(line));
}

/** As `docs` has them, unsealed. */
export const linesOf = (docs: Uint8Array): readonly string[] => Buffer.from(docs).toString().split('\n');

/** What tells of docs what may be told, and the docs themselves, sealed; undefined when the key is destroyed. */
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
