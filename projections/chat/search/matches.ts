/** Matches of a search: merged newest first from many blocks, then read as hits. */
import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import type { Hit } from '../../../application/chat/search/search-messages.js';
import type { Cache, Position, Vault } from '../../../application/ports/index.js';
import type { BlockHeader } from './block-directory.js';
import type { LineQuery, Texts } from './packed-text.js';
import { type Doc, idOf, linesOf, type RunRow, subjectOf, textOf } from './rows.js';

export interface Match {
  readonly header: BlockHeader;
  readonly texts: Texts;
  readonly slot: number;
  readonly posted: Position;
}

/** Merges two sorted lists, newest first. A message found in both a run and its pack appears once. */
export function mergeNewest(some: readonly Match[], others: readonly Match[], limit: number): readonly Match[] {
  if (others.length === 0) return some;
  const merged: Match[] = [];
  for (let [a, b] = [0, 0]; merged.length < limit; ) {
    const [one, other] = [some[a], others[b]];
    const next = one && (!other || one.posted >= other.posted) ? one : other;
    if (!next) break;
    if (one?.posted === next.posted) a++;
    if (other?.posted === next.posted) b++;
    merged.push(next);
  }
  return merged;
}

/** Whether no later block can contribute a newer match. */
export const isComplete = (found: readonly Match[], limit: number, { last }: BlockHeader): boolean =>
  found.length >= limit && found.at(-1)!.posted >= last;

const CACHE_BYTES = 8 * 1024 * 1024;

interface DocLocation {
  readonly run: string;
  /** Cache key; changes with the block's content and build. */
  readonly key: string;
  readonly line: number;
  readonly channel: string;
}

export function createHitHydrator(vault: Vault): {
  /** Omits docs that have changed since and no longer match. */
  read(runs: Collection<RunRow>, found: readonly Match[], query: LineQuery): Promise<readonly Hit[]>;
  readonly cache: Cache;
} {
  const decrypted = new LRUCache<string, readonly string[]>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (lines, key) => lines.reduce((sum, { length }) => sum + 2 * length + 40, 200 + key.length),
  });

  return {
    cache: { name: 'chat.search-docs', limitBytes: CACHE_BYTES, bytes: () => decrypted.calculatedSize },
    async read(runs, found, query) {
      const locations = found.map(locateDoc);
      const linesByRun = new Map<string, readonly string[]>();
      const missing = new Map<string, string>();
      for (const { run, key } of locations) {
        const known = decrypted.get(key);
        if (known) linesByRun.set(run, known);
        else missing.set(run, key);
      }
      if (missing.size > 0) {
        const filter = { _id: { $in: [...missing.keys()] } };
        for (const row of await runs.find(filter).project<RunRow>({ channel: 1, docs: 1 }).toArray()) {
          const bytes = await vault.openBytes(subjectOf(row.channel), row.docs.buffer);
          if (!bytes) continue;
          const lines = linesOf(bytes);
          linesByRun.set(row._id, lines);
          decrypted.set(missing.get(row._id)!, lines);
        }
      }
      return locations.flatMap(({ run, line, channel }) => {
        const text = linesByRun.get(run)?.[line];
        const doc: Doc | undefined = text === undefined ? undefined : JSON.parse(text);
        return doc && stillMatches(doc, query) ? hitOf(doc, channel) : [];
      });
    },
  };
}

function locateDoc({ header: { id, key, channel, isPack }, texts, slot }: Match): DocLocation {
  if (!isPack) return { run: id, key, line: slot, channel };
  const begin = texts.beginOf(slot);
  const run = idOf(channel, texts.posted(begin));
  return { run, key: `${key} ${run}`, line: slot - begin, channel };
}

function stillMatches(doc: Doc, { words }: LineQuery): boolean {
  const text = Buffer.from(textOf(doc));
  return !doc.gone && words.every(({ bytes, authors }) => authors.has(doc.author) || text.includes(bytes));
}

const hitOf = ({ id, author, createdAt, content, botName }: Doc, channelId: string): Hit => ({
  id,
  channelId,
  author,
  createdAt,
  content,
  ...(botName !== undefined && { botName }),
});
