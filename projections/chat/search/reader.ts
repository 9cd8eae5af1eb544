/** Searches the index: the blocks that their Bloom filters do not rule out, newest first. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { Hit, SearchIndex, SearchQuery } from '../../../application/chat/search/search-messages.js';
import {
  createBatchFlight,
  createSingleFlight,
  sliceExpired,
  yieldToEventLoop,
} from '../../../application/concurrency/index.js';
import type { Cache, Position, ProjectionProgress, Vault } from '../../../application/ports/index.js';
import { ngramsOfWord } from '../../../domain/chat/text-search.js';
import { longOf, mayContain } from '../../kernel/index.js';
import { type BlockText, blockText, type DocQuery, findDocs } from './block-text.js';
import { BLOCKS, type BlockRow, type Doc, subjectOf } from './blocks.js';
import { search } from './projection.js';

/** Room for the filters of a million messages. */
const FILTER_BYTES = 26 * 1024 * 1024;
const TEXT_BYTES = 62 * 1024 * 1024;
/**
 * Once the cache of texts is full, only one of this many is admitted: a scan larger than the cache would otherwise evict
 * everything.
 */
const OVERFLOW_SAMPLE = 8;
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
  /** Build, id and version of the row. */
  readonly key: string;
  readonly build: string;
  readonly id: string;
  /** Position of its last message. */
  readonly last: Position;
  readonly channel: string;
  readonly authors: readonly string[];
  /** Full blocks have a filter. */
  readonly isFull: boolean;
}

/** Headers of all blocks of a build. */
interface Directory {
  readonly build: string;
  readonly headers: Map<string, BlockHeader>;
  /** One copy of each author and channel id. */
  readonly ids: Map<string, string>;
  /** Newest first. */
  sorted: readonly BlockHeader[];
  /** Rows changed up to here have been read. */
  until: Position;
}

interface Match {
  readonly doc: Doc;
  readonly channel: string;
  readonly posted: Position;
}

type HeaderRow = Pick<BlockRow, '_id' | '_at' | 'channel' | 'last' | 'authors' | 'isFull'>;
const HEADER_FIELDS = { _at: 1, channel: 1, last: 1, authors: 1, isFull: 1 } as const;

export function createSearchIndex({ db, vault, build, projectionProgress }: SearchReaderPorts): SearchIndex & {
  readonly caches: readonly Cache[];
} {
  let directory = emptyDirectory('');
  const singleFlight = createSingleFlight();
  const position = () => projectionProgress.position(search.name);
  const rowsOf = (name: string) => db.collection<BlockRow>(`${name}.${BLOCKS}`);
  const filters = new LRUCache<string, Uint8Array>({
    maxSize: FILTER_BYTES,
    sizeCalculation: ({ length }, key) => length + key.length + 200,
  });
  const texts = new LRUCache<string, BlockText>({ maxSize: TEXT_BYTES, sizeCalculation: ({ size }) => size });
  let overflow = 0;

  /** Reads the headers of changed blocks. */
  async function refresh(name: string): Promise<void> {
    // Rows beyond this position may still be written; they are read again next time.
    const until = position();
    const next = directory.build === name ? directory : emptyDirectory(name);
    const intern = (id: string) => {
      if (!next.ids.has(id)) next.ids.set(id, id);
      return next.ids.get(id)!;
    };
    const changed = rowsOf(name)
      .find({ _at: { $gt: longOf(next.until) } })
      .project<HeaderRow>(HEADER_FIELDS);
    let hasChanged = false;
    for await (const { _id: id, _at, last, channel, authors, isFull } of changed) {
      if (sliceExpired()) await yieldToEventLoop();
      hasChanged = true;
      next.headers.set(id, {
        key: `${name} ${id} ${_at}`,
        build: name,
        id,
        last: last.toBigInt(),
        channel: intern(channel),
        authors: authors.map(intern),
        isFull,
      });
    }
    if (hasChanged) next.sorted = [...next.headers.values()].sort((a, b) => (a.last > b.last ? -1 : 1));
    // Set last, so that concurrent callers wait until the rows are merged.
    next.until = until;
    directory = next;
  }

  /** All blocks as of the current index position. */
  async function headers(name: string): Promise<readonly BlockHeader[]> {
    const required = position();
    // A read that others have begun may not have come far enough, or be of another build.
    while (directory.build !== name || directory.until < required) await singleFlight('read', () => refresh(name));
    return directory.sorted;
  }

  const rowsOfBatch = ([first, ...more]: readonly BlockHeader[], fields: { readonly [name: string]: 1 }) =>
    rowsOf(first!.build)
      .find({ _id: { $in: [first!, ...more].map(({ id }) => id) } })
      .project<BlockRow>({ channel: 1, ...fields });

  const loadFilters = createBatchFlight<BlockHeader, Uint8Array>(async (batch) => {
    const keys = new Map(batch.map(({ id, key }) => [id, key]));
    for await (const { _id, channel, filter } of rowsOfBatch(batch, { filter: 1 })) {
      if (!filter) continue;
      // Without its key a block has no matches.
      const opened = (await vault.openBytes(subjectOf(channel), filter.buffer)) ?? new Uint8Array(8);
      filters.set(keys.get(_id)!, opened);
    }
    return new Map();
  });

  /** Reads the current or newer texts; blocks that no longer exist are missing. */
  const loadTexts = createBatchFlight<BlockHeader, BlockText>(async (batch) => {
    const keys = new Map(batch.map(({ id, key }) => [id, key]));
    const found = new Map<string, BlockText>();
    for await (const { _id, channel, docs } of rowsOfBatch(batch, { docs: 1 })) {
      const text = await blockText((await vault.openBytes(subjectOf(channel), docs.buffer)) ?? new Uint8Array());
      const key = keys.get(_id)!;
      found.set(key, text);
      if (texts.calculatedSize + text.size < TEXT_BYTES || ++overflow % OVERFLOW_SAMPLE === 0) texts.set(key, text);
    }
    return found;
  });

  async function readTexts(batch: readonly BlockHeader[]): Promise<ReadonlyMap<string, BlockText>> {
    const found = new Map<string, BlockText>();
    const missing: BlockHeader[] = [];
    for (const header of batch) {
      const known = texts.get(header.key);
      if (known) found.set(header.key, known);
      else missing.push(header);
    }
    if (missing.length > 0) for (const [key, text] of await loadTexts(missing)) found.set(key, text);
    return found;
  }

  /** Whether the block may contain matches, by its authors and filter. */
  function mightMatch({ key, authors }: BlockHeader, { words, authorId }: CompiledQuery): boolean {
    if (authorId !== undefined && !authors.includes(authorId)) return false;
    // `peek`, as every search visits all filters and recency means nothing.
    const filter = filters.peek(key);
    return (
      !filter ||
      words.every(
        (word) =>
          word.ngrams.every((ngram) => mayContain(filter, ngram)) ||
          (word.authors.size > 0 && authors.some((each) => word.authors.has(each))),
      )
    );
  }

  async function searchBlocks(
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
      const slice = all.slice(from, from + size);
      const unfiltered = slice.filter(({ isFull, key }) => isFull && !filters.has(key));
      if (unfiltered.length > 0) await loadFilters(unfiltered);
      const batch = slice.filter((header) => mightMatch(header, query));
      if (batch.length === 0) continue;
      const read = await readTexts(batch);
      for (const header of batch) {
        if (sliceExpired()) await yieldToEventLoop();
        if (isComplete(header)) break;
        const text = read.get(header.key);
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
      { name: 'chat.search-filters', limitBytes: FILTER_BYTES, bytes: () => filters.calculatedSize },
      { name: 'chat.search-texts', limitBytes: TEXT_BYTES, bytes: () => texts.calculatedSize },
    ],
    async find(query) {
      const name = build();
      if (name === undefined) return [];
      const visible = visibleBlocks(await headers(name), query.isVisible);
      const found = await searchBlocks(visible, compileQuery(query), query.limit);
      return found.map(hitOf);
    },
  };
}

const emptyDirectory = (build: string): Directory => ({
  build,
  headers: new Map(),
  ids: new Map(),
  sorted: [],
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

const hitOf = ({ channel, doc: { id, author, createdAt, content, botName } }: Match): Hit => ({
  id,
  channelId: channel,
  author,
  createdAt,
  content,
  ...(botName !== undefined && { botName }),
});
