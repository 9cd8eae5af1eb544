/** Searches the index: the blocks that their Bloom filters do not rule out, newest first. */
import type { Db } from 'mongodb';
import type { Hit, SearchIndex, SearchQuery } from '../../../application/chat/search/search-messages.js';
import { createSingleFlight, sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Cache, Position, ProjectionProgress, Vault } from '../../../application/ports/index.js';
import { ngramsOfWord } from '../../../domain/chat/text-search.js';
import { type BlockVersion, createBlockCache, emptyBloomFilter, longOf, mayContainAll } from '../../kernel/index.js';
import { type BlockText, blockText, type DocQuery, type DocWord, findDocs } from './block-text.js';
import { BLOCKS, type BlockRow, type Doc, subjectOf } from './blocks.js';
import { search } from './projection.js';

/** Room for the filters of a million messages. */
const FILTER_BYTES = 30 * 1024 * 1024;
const TEXT_BYTES = 58 * 1024 * 1024;
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
  readonly words: readonly CompiledWord[];
}

interface CompiledWord extends DocWord {
  readonly ngrams: readonly number[];
}

interface BlockHeader extends BlockVersion {
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
        key: keyOf(name, id),
        version: String(_at),
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

  /** Decodes a field of the rows of blocks of one build; a block without the field has no value. */
  const decodeRows =
    <Value>(field: 'filter' | 'docs', decode: (opened: Uint8Array | undefined) => Value | Promise<Value>) =>
    async (blocks: readonly BlockHeader[]): Promise<ReadonlyMap<string, Value>> => {
      const name = blocks[0]!.build;
      const found = new Map<string, Value>();
      const rows = await rowsOf(name)
        .find({ _id: { $in: blocks.map(({ id }) => id) } })
        .project<BlockRow>({ channel: 1, [field]: 1 })
        .toArray();
      // Opened together, as the key of each channel may have to be read; decoded one by one, as that takes long.
      const opened = await Promise.all(
        rows.map(({ channel, [field]: sealed }) => sealed && vault.openBytes(subjectOf(channel), sealed.buffer)),
      );
      for (const [index, { _id, [field]: sealed }] of rows.entries())
        if (sealed) found.set(keyOf(name, _id), await decode(opened[index]));
      return found;
    };

  // Without its key a block has no matches: its filter and its texts are empty.
  const filters = createBlockCache<BlockHeader, Uint8Array>({
    name: 'chat.search-filters',
    limitBytes: FILTER_BYTES,
    sizeOf: ({ length }) => length,
    scanResistant: true,
    load: decodeRows('filter', (opened) => opened ?? emptyBloomFilter(0)),
  });
  const texts = createBlockCache<BlockHeader, BlockText>({
    name: 'chat.search-texts',
    limitBytes: TEXT_BYTES,
    sizeOf: ({ size }) => size,
    scanResistant: true,
    load: decodeRows('docs', (opened) => blockText(opened ?? new Uint8Array())),
  });

  /** The blocks that may contain matches, by their authors and filters. */
  async function findCandidates(blocks: readonly BlockHeader[], { words, authorId }: CompiledQuery) {
    const byAuthor = authorId === undefined ? blocks : blocks.filter(({ authors }) => authors.includes(authorId));
    const full = await filters.read(byAuthor.filter(({ isFull }) => isFull));
    let next = 0;
    return byAuthor.filter(({ authors, isFull }) => {
      const filter = isFull ? full[next++] : undefined;
      const mayMatch = (word: CompiledWord) =>
        !filter || mayContainAll(filter, word.ngrams) || authors.some((each) => word.authors.has(each));
      return words.every(mayMatch);
    });
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
      const batch = await findCandidates(all.slice(from, from + size), query);
      if (batch.length === 0) continue;
      const read = await texts.read(batch);
      for (const [index, header] of batch.entries()) {
        if (sliceExpired()) await yieldToEventLoop();
        if (isComplete(header)) break;
        const text = read[index];
        const docs = text ? findDocs(text, query).slice(-limit) : [];
        if (docs.length === 0) continue;
        const more = docs.map((doc) => ({ doc, channel: header.channel, posted: BigInt(doc.posted) }));
        found = [...found, ...more].sort((a, b) => (a.posted > b.posted ? -1 : 1)).slice(0, limit);
      }
    }
    return found;
  }

  return {
    caches: [filters.cache, texts.cache],
    async find(query) {
      const name = build();
      if (name === undefined) return [];
      const visible = visibleBlocks(await headers(name), query.isVisible);
      const found = await searchBlocks(visible, compileQuery(query), query.limit);
      return found.map(({ doc, channel }): Hit => ({ ...doc, channelId: channel }));
    },
  };
}

const keyOf = (build: string, id: string): string => `${build} ${id}`;

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
