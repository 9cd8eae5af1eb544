/** What stands in the index of what was said: runs of messages of one place, sealed under its key. */
import { Binary, type IndexDescription, type Long } from 'mongodb';
import type { Vault } from '../../../application/ports.js';
import { breather } from '../../../application/turns.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { conversationSubject, isDirect } from '../../../domain/chat/places.js';
import { filterOf, foldText, piecesOf } from '../../../domain/chat/search.js';

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
}

export interface SearchRow {
  /** The place, and the position of the first that came into it. */
  readonly _id: string;
  readonly _at: Long;
  readonly channel: string;
  /** Positions of the first and the last that came into it. */
  readonly first: Long;
  readonly last: Long;
  /** How many came into it: some may be deleted. */
  readonly added: number;
  /** Characters of all that came into it. */
  readonly size: number;
  readonly ids: readonly string[];
  /** The messages whose replies are in it. */
  readonly threads: readonly string[];
  readonly authors: readonly string[];
  /** `Doc[]` as JSON. */
  readonly docs: Binary;
  /** Of the pieces of all words: those that are small have none. */
  readonly filter?: Binary;
  readonly packed?: true;
}

export const ROWS = 'rows';

export const SEARCH_INDEXES: IndexDescription[] = [
  { key: { _at: 1 }, name: 'at' },
  { key: { channel: 1, packed: 1, last: 1 }, name: 'channel' },
  { key: { ids: 1 }, name: 'ids' },
  { key: { threads: 1 }, name: 'threads' },
];

/** Under whose key it is sealed what is said there. */
export const subjectOf = (channel: string): string =>
  isDirect(channel) ? conversationSubject(channel) : channelSubject({ channelId: channel });

/** All of a message in which words are found; no word is found across a line. */
export const textOf = ({ content, names = [], botName = '' }: Doc): string =>
  foldText([content, ...names, botName].join('\n'));

/** The message in whose thread a reply is. */
export const threadOf = (id: string): string | undefined =>
  id.includes('.') ? id.slice(0, id.indexOf('.')) : undefined;

/** Undefined when the key is destroyed. */
export async function openDocs(
  vault: Vault,
  { channel, docs }: Pick<SearchRow, 'channel' | 'docs'>,
): Promise<readonly Doc[] | undefined> {
  const bytes = await vault.openBytes(subjectOf(channel), docs.buffer);
  return bytes && JSON.parse(Buffer.from(bytes).toString());
}

/** What tells of docs what may be told, and the docs themselves, sealed; undefined when the key is destroyed. */
export async function sealDocs(
  vault: Vault,
  channel: string,
  docs: readonly Doc[],
  isPacked: boolean,
): Promise<Pick<SearchRow, 'ids' | 'threads' | 'authors' | 'docs' | 'filter' | 'packed'> | undefined> {
  const subject = subjectOf(channel);
  const sealed = await vault.sealBytes(subject, Buffer.from(JSON.stringify(docs)));
  const filter = isPacked ? await vault.sealBytes(subject, await filterFor(docs)) : undefined;
  if (!sealed || (isPacked && !filter)) return undefined;
  return {
    ids: docs.map(({ id }) => id),
    threads: unique(docs.flatMap(({ id }) => threadOf(id) ?? [])),
    authors: unique(docs.map(({ author }) => author)),
    docs: new Binary(sealed),
    ...(filter && { filter: new Binary(filter), packed: true }),
  };
}

const unique = (texts: readonly string[]) => [...new Set(texts)];

async function filterFor(docs: readonly Doc[]): Promise<Uint8Array> {
  const pieces = new Set<number>();
  const breathe = breather();
  for (const doc of docs) {
    piecesOf(textOf(doc), (piece) => pieces.add(piece));
    await breathe();
  }
  return filterOf(pieces);
}
