/** Searches the index: cached packs, after Bloom filters have ruled most of them out. */
import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import type { SearchIndex, SearchQuery } from '../../../application/chat/search/search-messages.js';
import { createBatchFlight, sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Cache, ProjectionProgress, Vault } from '../../../application/ports/index.js';
import { mightContain, ngramsOfWord } from '../../../domain/chat/text-search.js';
import { type BlockHeader, createBlockDirectory, keyOf } from './block-directory.js';
import { lineOf } from './blocks.js';
import { createHitHydrator, isComplete, type Match, mergeNewest } from './matches.js';
import { encodeTexts, type LineQuery, Texts } from './packed-text.js';
import { search } from './projection.js';
import { openDocs, PACKS, type PackRow, RUNS, type RunRow, subjectOf, unique } from './rows.js';

/** Filters of a million messages take about this much. */
const FILTER_BYTES = 18 * 1024 * 1024;
const TEXT_BYTES = 66 * 1024 * 1024;
/**
 * Once the cache is full, only one of this many texts is admitted: a scan larger than the cache would otherwise evict
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
interface CompiledQuery extends LineQuery {
  readonly words: readonly (LineQuery['words'][number] & { readonly ngrams: readonly number[] })[];
}

/** Block header, with the build of its row. */
interface LocatedBlock extends BlockHeader {
  readonly build: string;
}

interface Rows {
  readonly runs: Collection<RunRow>;
  readonly packs: Collection<PackRow>;
}

export function createSearchIndex({ db, vault, build, projectionProgress }: SearchReaderPorts): SearchIndex & {
  /** Preloads what every search needs, so that the first one is fast. */
  prepare(): Promise<void>;
  readonly caches: readonly Cache[];
} {
  const directory = createBlockDirectory(db, () => projectionProgress.position(search.name));
  const hydrator = createHitHydrator(vault);
  const filters = new LRUCache<string, Uint8Array>({
    maxSize: FILTER_BYTES,
    sizeCalculation: ({ length }, key) => length + key.length + 200,
  });
  const texts = new LRUCache<string, Texts>({
    maxSize: TEXT_BYTES,
    sizeCalculation: ({ size }, key) => size + key.length,
  });
  let overflow = 0;
  const shouldCache = ({ size }: Texts) =>
    texts.calculatedSize + size < TEXT_BYTES || ++overflow % OVERFLOW_SAMPLE === 0;

  /** Reads the filters of packs. */
  const loadFilters = createBatchFlight<LocatedBlock, Uint8Array>(async (batch) => {
    const filter = { _id: { $in: batch.map(({ id }) => id) } };
    const [{ build }] = batch as [LocatedBlock];
    const { packs } = rowsOf(build);
    for (const row of await packs.find(filter).project<PackRow>({ filter: 1, channel: 1, _at: 1 }).toArray()) {
      if (sliceExpired()) await yieldToEventLoop();
      const bytes = await vault.openBytes(subjectOf(row.channel), row.filter.buffer);
      // Without a key nothing matches.
      filters.set(keyOf(build, true, row), bytes ?? new Uint8Array(8));
    }
    return new Map();
  });

  /** Returns undefined, synchronously, when all filters are cached. */
  function readFilters(build: string, batch: readonly BlockHeader[]): Promise<unknown> | undefined {
    const missing = batch.filter(({ isPack, key }) => isPack && filters.peek(key) === undefined);
    return missing.length > 0 ? loadFilters(missing.map(withBuild(build))) : undefined;
  }

  /** Reads the current or newer texts; blocks that no longer exist are missing. */
  const loadTexts = createBatchFlight<LocatedBlock, Texts>(async (batch) => {
    const [{ build }] = batch as [LocatedBlock];
    const { packs, runs } = rowsOf(build);
    const found = new Map<string, Texts>();
    const packKeys = new Map(batch.flatMap(({ isPack, id, key }) => (isPack ? [[id, key]] : [])));
    const runKeys = new Map(batch.flatMap(({ isPack, id, key }) => (isPack ? [] : [[id, key]])));
    if (packKeys.size > 0) {
      const filter = { _id: { $in: [...packKeys.keys()] } };
      for (const row of await packs.find(filter).project<PackRow>({ filter: 0 }).toArray()) {
        if (sliceExpired()) await yieldToEventLoop();
        const bytes = await vault.openBytes(subjectOf(row.channel), row.texts.buffer);
        if (!bytes) continue;
        const each = new Texts(bytes, row.authors);
        if (shouldCache(each)) texts.set(keyOf(build, true, row), each);
        found.set(packKeys.get(row._id)!, each);
      }
    }
    if (runKeys.size > 0)
      for (const row of await runs.find({ _id: { $in: [...runKeys.keys()] } }).toArray()) {
        if (sliceExpired()) await yieldToEventLoop();
        const lines = ((await openDocs(vault, row)) ?? []).map((doc) => lineOf(doc, 0));
        const authors = unique(lines.flatMap(({ author }) => author ?? []));
        const each = new Texts(encodeTexts(lines, authors), authors);
        texts.set(keyOf(build, false, row), each);
        found.set(runKeys.get(row._id)!, each);
      }
    return found;
  });

  /** By block key. */
  async function readTexts(build: string, batch: readonly BlockHeader[]): Promise<ReadonlyMap<string, Texts>> {
    const found = new Map<string, Texts>();
    const missing: BlockHeader[] = [];
    for (const header of batch) {
      const known = texts.get(header.key);
      if (known) found.set(header.key, known);
      else missing.push(header);
    }
    if (missing.length > 0)
      for (const [key, each] of await loadTexts(missing.map(withBuild(build)))) found.set(key, each);
    return found;
  }

  /** Whether the block may contain matches, by its authors and filter. */
  function mightMatch({ isPack, key, authors }: BlockHeader, { words, authorId }: CompiledQuery): boolean {
    if (authorId !== undefined && !authors.includes(authorId)) return false;
    // `peek`, as every search visits all filters and recency means nothing.
    const filter = isPack ? filters.peek(key) : undefined;
    if (!filter) return true;
    return words.every(
      (word) =>
        word.ngrams.every((ngram) => mightContain(filter, ngram)) ||
        (word.authors.size > 0 && authors.some((each) => word.authors.has(each))),
    );
  }

  /** Newest matches; some of them may have changed since. */
  async function searchBlocks(build: string, all: readonly BlockHeader[], query: CompiledQuery, limit: number) {
    let found: readonly Match[] = [];
    for (let from = 0, size = FIRST_BATCH; from < all.length; from += size, size = BATCH_SIZE) {
      const batch = all.slice(from, from + size);
      if (isComplete(found, limit, batch[0]!)) break;
      if (sliceExpired()) await yieldToEventLoop();
      await readFilters(build, batch);
      const open = batch.filter((header) => mightMatch(header, query));
      if (open.length === 0) continue;
      const read = await readTexts(build, open);
      for (const header of open) {
        if (sliceExpired()) await yieldToEventLoop();
        if (isComplete(found, limit, header)) break;
        const lines = read.get(header.key);
        if (!lines) continue;
        const slots = lines.find(query).slice(-limit).reverse();
        if (slots.length === 0) continue;
        const more = slots.map((slot) => ({ header, texts: lines, slot, posted: lines.posted(slot) }));
        found = mergeNewest(found, more, limit);
      }
    }
    return found;
  }

  const rowsOf = (name: string): Rows => ({
    runs: db.collection<RunRow>(`${name}.${RUNS}`),
    packs: db.collection<PackRow>(`${name}.${PACKS}`),
  });

  return {
    async prepare() {
      const name = build();
      if (name === undefined) return;
      const all = await directory.all(name);
      await readTexts(name, all.slice(0, FIRST_BATCH));
      for (let from = 0; from < all.length; from += BATCH_SIZE)
        await readFilters(name, all.slice(from, from + BATCH_SIZE));
    },
    caches: [
      { name: 'chat.search-filters', limitBytes: FILTER_BYTES, bytes: () => filters.calculatedSize },
      { name: 'chat.search-texts', limitBytes: TEXT_BYTES, bytes: () => texts.calculatedSize },
      hydrator.cache,
    ],
    async find(searchQuery) {
      const name = build();
      if (name === undefined) return [];
      const visible = visibleBlocks(await directory.all(name), searchQuery.isVisible);
      const query = compileQuery(searchQuery);
      for (let more = 0; ; ) {
        const found = await searchBlocks(name, visible, query, searchQuery.limit + more);
        const hits = await hydrator.read(rowsOf(name).runs, found, query);
        const missing = found.length - hits.length;
        if (missing <= more || found.length < searchQuery.limit + more) return hits.slice(0, searchQuery.limit);
        more = missing;
      }
    },
  };
}

const withBuild =
  (build: string) =>
  (header: BlockHeader): LocatedBlock => ({ ...header, build });

function visibleBlocks(directory: readonly BlockHeader[], isVisible: SearchQuery['isVisible']): readonly BlockHeader[] {
  const known = new Map<string, boolean>();
  return directory.filter(({ channel }) => {
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
