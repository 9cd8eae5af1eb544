/** Searches the index: the blocks that their Bloom filters do not rule out, newest first. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { Hit, SearchIndex, SearchQuery } from '../../../application/chat/search/search-messages.js';
import { createSingleFlight, sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Cache, Position, ProjectionProgress, Vault } from '../../../application/ports/index.js';
import { mightContain, ngramsOfWord } from '../../../domain/chat/text-search.js';
import { longOf } from '../../kernel/index.js';
import { type BlockText, blockText, type DocQuery, findDocs } from './block-text.js';
import { BLOCKS, type BlockRow, type Doc, openDocs, subjectOf } from './blocks.js';
import { search } from './projection.js';

/** Filters of a million messages take about 25 MiB. Blocks beyond are searched without a filter. */
const FILTER_BYTES = 60 * 1024 * 1024;
const TEXT_BYTES = 32 * 1024 * 1024;
/** Blocks per read: the first batch often suffices. */
const FIRST_BATCH = 16;
const BATCH_SIZE = 64;

export interface SearchReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the build being served. */
  readonly build: () => string | undefined;
  /** Tells the index position known to this node; rows up to it are final. */
  readonly projectionProgress: Pick<ProjectionProgress, 'position'>;
}

/** Compiled query, with the words assumed rarest first. */
interface CompiledQuery extends DocQuery {
  readonly words: readonly (DocQuery['words'][number] & { readonly ngrams: readonly number[] })[];
}

interface BlockHeader {
  readonly id: string;
  /** Positions of the last event that changed the block, and of its last message. */
  readonly at: Position;
  readonly last: Position;
  readonly channel: string;
  readonly authors: readonly string[];
  readonly filter: Uint8Array | undefined;
}

/** Headers of all blocks of a build. */
interface Directory {
  readonly build: string;
  readonly headers: Map<string, BlockHeader>;
  /** One copy of each author and channel id. */
  readonly ids: Map<string, string>;
  /** Newest first. */
  sorted: readonly BlockHeader[];
  filterBytes: number;
  /** Rows changed up to here have been read. */
  until: Position;
}

interface Match {
  readonly doc: Doc;
  readonly channel: string;
  readonly posted: Position;
}

type HeaderRow = Pick<BlockRow, '_id' | '_at' | 'channel' | 'last' | 'authors' | 'filter'>;
const HEADER_FIELDS = { _at: 1, channel: 1, last: 1, authors: 1, filter: 1 } as const;

export function createSearchIndex({ db, vault, build, projectionProgress }: SearchReaderPorts): SearchIndex & {
  readonly caches: readonly Cache[];
} {
  let directory = emptyDirectory('');
  const singleFlight = createSingleFlight();
  const position = () => projectionProgress.position(search.name);
  const rowsOf = (name: string) => db.collection<BlockRow>(`${name}.${BLOCKS}`);
  /** By header: a changed block has another one. */
  const texts = new LRUCache<BlockHeader, BlockText>({ maxSize: TEXT_BYTES, sizeCalculation: ({ size }) => size });

  /** Reads the headers of changed blocks. */
  async function refresh(name: string): Promise<void> {
    // Rows beyond this position may still be written; they are read again next time.
    const until = position();
    const next = directory.build === name ? directory : emptyDirectory(name);
    const changed = rowsOf(name)
      .find({ _at: { $gt: longOf(next.until) } })
      .project<HeaderRow>(HEADER_FIELDS);
    let hasChanged = false;
    for (const row of await changed.toArray()) {
      if (sliceExpired()) await yieldToEventLoop();
      const before = next.headers.get(row._id);
      if (before && before.at >= row._at.toBigInt()) continue;
      const header = await headerOf(row, next);
      next.headers.set(header.id, header);
      next.filterBytes += (header.filter?.length ?? 0) - (before?.filter?.length ?? 0);
      hasChanged = true;
    }
    if (hasChanged) next.sorted = [...next.headers.values()].sort((a, b) => (a.last > b.last ? -1 : 1));
    // Set last, so that concurrent callers wait until the rows are merged.
    next.until = until;
    directory = next;
  }

  async function headerOf(row: HeaderRow, { ids, filterBytes }: Directory): Promise<BlockHeader> {
    const intern = (each: string) => {
      if (!ids.has(each)) ids.set(each, each);
      return ids.get(each)!;
    };
    const sealed = filterBytes < FILTER_BYTES ? row.filter : undefined;
    const filter = sealed && (await vault.openBytes(subjectOf(row.channel), sealed.buffer));
    const [at, last] = [row._at.toBigInt(), row.last.toBigInt()];
    return { id: row._id, at, last, channel: intern(row.channel), authors: row.authors.map(intern), filter };
  }

  /** All blocks as of the current index position. */
  async function headers(name: string): Promise<readonly BlockHeader[]> {
    const required = position();
    // A read that others have begun may not have come far enough, or be of another build.
    while (directory.build !== name || directory.until < required) await singleFlight('read', () => refresh(name));
    return directory.sorted;
  }

  /** Reads the current or newer texts; blocks that no longer exist are missing. */
  async function readTexts(name: string, batch: readonly BlockHeader[]): Promise<ReadonlyMap<BlockHeader, BlockText>> {
    const found = new Map<BlockHeader, BlockText>();
    const missing = new Map<string, BlockHeader>();
    for (const header of batch) {
      const known = texts.get(header);
      if (known) found.set(header, known);
      else missing.set(header.id, header);
    }
    if (missing.size === 0) return found;
    const rows = rowsOf(name).find({ _id: { $in: [...missing.keys()] } });
    for (const row of await rows.project<BlockRow>({ channel: 1, docs: 1 }).toArray()) {
      if (sliceExpired()) await yieldToEventLoop();
      const header = missing.get(row._id)!;
      const text = blockText(await openDocs(vault, row));
      texts.set(header, text);
      found.set(header, text);
    }
    return found;
  }

  async function searchBlocks(
    name: string,
    all: readonly BlockHeader[],
    query: CompiledQuery,
    limit: number,
  ): Promise<readonly Match[]> {
    let found: readonly Match[] = [];
    /** Whether neither this block nor a later one can contribute a newer match. */
    const isComplete = ({ last }: BlockHeader) => found.length >= limit && found.at(-1)!.posted >= last;
    for (let from = 0, size = FIRST_BATCH; from < all.length; from += size, size = BATCH_SIZE) {
      if (isComplete(all[from]!)) break;
      if (sliceExpired()) await yieldToEventLoop();
      const batch = all.slice(from, from + size).filter((header) => mightMatch(header, query));
      if (batch.length === 0) continue;
      const read = await readTexts(name, batch);
      for (const header of batch) {
        if (sliceExpired()) await yieldToEventLoop();
        if (isComplete(header)) break;
        const text = read.get(header);
        const docs = text ? findDocs(text, query).slice(-limit) : [];
        if (docs.length === 0) continue;
        const more = docs.map((doc) => ({ doc, channel: header.channel, posted: BigInt(doc.posted) }));
        found = [...found, ...more].sort((a, b) => (a.posted > b.posted ? -1 : 1)).slice(0, limit);
      }
    }
    return found;
  }

  return {
    caches: [
      { name: 'chat.search-filters', limitBytes: FILTER_BYTES, bytes: () => directory.filterBytes },
      { name: 'chat.search-texts', limitBytes: TEXT_BYTES, bytes: () => texts.calculatedSize },
    ],
    async find(query) {
      const name = build();
      if (name === undefined) return [];
      const visible = visibleBlocks(await headers(name), query.isVisible);
      const found = await searchBlocks(name, visible, compileQuery(query), query.limit);
      return found.map(hitOf);
    },
  };
}

const emptyDirectory = (build: string): Directory => ({
  build,
  headers: new Map(),
  ids: new Map(),
  sorted: [],
  filterBytes: 0,
  until: -1n,
});

function visibleBlocks(all: readonly BlockHeader[], isVisible: SearchQuery['isVisible']): readonly BlockHeader[] {
  const known = new Map<string, boolean>();
  return all.filter(({ channel }) => {
    const is = known.get(channel) ?? isVisible(channel);
    known.set(channel, is);
    return is;
  });
}

/** Puts the words first that fewest names contain, then the longest, as they are usually the rarest. */
function compileQuery({ words, authorId, from, to }: SearchQuery): CompiledQuery {
  const queryWords = words.map(({ text, authors }) => ({
    bytes: Buffer.from(text),
    authors,
    ngrams: ngramsOfWord(text),
  }));
  queryWords.sort((a, b) => a.authors.size - b.authors.size || b.bytes.length - a.bytes.length);
  return { words: queryWords, authorId, from, to };
}

/** Whether the block may contain matches, by its authors and filter. */
function mightMatch({ authors, filter }: BlockHeader, { words, authorId }: CompiledQuery): boolean {
  if (authorId !== undefined && !authors.includes(authorId)) return false;
  return (
    !filter ||
    words.every(
      (word) =>
        word.ngrams.every((ngram) => mightContain(filter, ngram)) ||
        (word.authors.size > 0 && authors.some((each) => word.authors.has(each))),
    )
  );
}

const hitOf = ({ channel, doc: { id, author, createdAt, content, botName } }: Match): Hit => ({
  id,
  channelId: channel,
  author,
  createdAt,
  content,
  ...(botName !== undefined && { botName }),
});
