/** Reads and decrypts blocks and term filters on demand, with caches and a limit on decrypted bytes. */
import { Binary, type Db } from 'mongodb';
import { createFairSemaphore } from '../../../application/concurrency/index.js';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Block, Needs } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import { type BlockVersion, createBlockCache, mayContainAll } from '../../kernel/index.js';
import { type DecodedBlock, decodeBlock } from './block.js';
import { decryptAndInflate } from './compress-and-seal.js';
import { type Partition, sectionsCollection } from './partitions.js';
import type { BlockHeader, BlockRef, BlockRow, SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import { ALL, createSectionCache } from './section-cache.js';
import { createSectionLoader } from './section-loader.js';
import { termSection } from './sections.js';

/** Bytes cached of blocks, including rendered entries, and of term filters. */
const BLOCK_CACHE_BYTES = 8 * 1024 * 1024;
const FILTER_CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of blocks being read concurrently, cached or not. */
const MAX_READ_BYTES = 24 * 1024 * 1024;
const RECORD_BYTES = 100;
const OPEN_COLUMN = { block: 64 * 1024, record: 32 };

/** An open block, or a filter of a block: of a full one the named section. */
interface CacheRef extends BlockVersion, BlockRef {
  readonly section?: string | undefined;
}

interface CachedBlock {
  readonly block: Block;
  readonly size: number;
}

export type BlockReader = ReturnType<typeof createBlockReader>;

export function createBlockReader(db: Db, vault: Vault) {
  const semaphore = createFairSemaphore('reading blocks', MAX_READ_BYTES, Number.POSITIVE_INFINITY);
  /** Runs a job that needs this many bytes. Exports may wait for long. */
  const withBytes = <Result>(bytes: number, job: () => Promise<Result>) =>
    semaphore(job, '', { weight: bytes, maxWaitMs: Number.POSITIVE_INFINITY });
  const sectionLoader = createSectionLoader((name) => db.collection(name), vault);
  const sectionCache = createSectionCache(vault, sectionLoader);

  const rowsOf = (name: string, part: Partition) => db.collection<BlockRow>(`${name}.${part.name}`);
  /** The version includes the count, because an open block of scattered records loses some when they expire. */
  const cacheRef = (ref: BlockRef, section?: string): CacheRef => {
    const { name, part, header } = ref;
    const key = `${name} ${part.name} ${header._id} ${section ?? ''}`;
    return { ...ref, key, version: `${header._at} ${header.count}`, section };
  };

  const openBlocks = createBlockCache<CacheRef, CachedBlock>({
    name: 'logs.blocks',
    limitBytes: BLOCK_CACHE_BYTES,
    sizeOf: ({ size }) => size,
    async load(refs) {
      const opened = await Promise.all(refs.map(async (ref) => [ref.key, await readOpenBlock(ref)] as const));
      return new Map(opened.flatMap(([key, block]) => (block ? [[key, block]] : [])));
    },
  });

  async function readOpenBlock({ name, part, header }: BlockRef): Promise<CachedBlock | undefined> {
    const row = await rowsOf(name, part).findOne({ _id: header._id }, { projection: { records: 1 } });
    if (!row?.records) return undefined;
    const pieces = await Promise.all(row.records.map((each) => decryptAndInflate(vault, header.subject, each)));
    const readable = pieces.filter((piece) => piece !== undefined);
    const texts = readable.map((piece) => piece.toString());
    const block = toBlock(decodeBlock(texts, header._at.toBigInt()), header.producerId, part.audit);
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const bytes = readable.reduce((sum, piece) => sum + piece.length, 0);
    // Text with any non-Latin-1 character takes two bytes per character; rendered entries repeat the records.
    return { block, size: 2 * characters * (bytes > characters ? 2 : 1) + RECORD_BYTES * header.count };
  }

  /** Bloom filters of blocks of one collection: of open blocks from their rows, of full ones one of their sections. */
  const filters = createBlockCache<CacheRef, Uint8Array>({
    name: 'logs.filters',
    limitBytes: FILTER_CACHE_BYTES,
    sizeOf: ({ length }) => length,
    async load(refs) {
      const { name, part, section } = refs[0]!;
      const idOf = ({ header }: BlockRef) => (section === undefined ? header._id : sectionsId(header._id, 'terms'));
      const byId = new Map(refs.map((ref) => [idOf(ref), ref]));
      const [collection, field] =
        section === undefined ? [part.name, 'terms'] : [sectionsCollection(part.name), `sections.${section}`];
      const rows = db
        .collection<Pick<BlockRow, '_id' | 'terms'> & Partial<SectionsRow>>(`${name}.${collection}`)
        .find({ _id: { $in: [...byId.keys()] } }, { projection: { [field]: 1 } });
      const found = new Map<string, Uint8Array>();
      for await (const { _id, terms, sections } of rows) {
        const { key, header } = byId.get(_id)!;
        // May be newer than the header: an open block only gains terms.
        const sealed = section === undefined ? terms : sections?.[section];
        const filter = sealed instanceof Binary && (await vault.openBytes(header.subject, sealed.buffer));
        if (filter) found.set(key, filter);
      }
      return found;
    },
  });

  /** New header of a block that was open when found and is full by now, so its row has no records any more. */
  async function findFilled({ name, part, header }: BlockRef): Promise<BlockRef | undefined> {
    const projection = { records: 0, terms: 0, correlations: 0 };
    const row = await rowsOf(name, part).findOne<BlockHeader>({ _id: header._id }, { projection });
    return row?.chunks && { name, part, header: row };
  }

  /** Never waits for more of the semaphore while holding it: if records turn out to be needed, it starts over. */
  async function readSections<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs: Needs) {
    const readLimited = (required: Needs) =>
      withBytes(costOf(ref.header, required), async () => {
        const block = await sectionCache.open(ref, required);
        return block === 'needs-records' ? block : { found: block && (await look(block)) };
      });
    const result = await readLimited(needs);
    const retried = result === 'needs-records' ? await readLimited({ ...needs, ...ALL }) : result;
    return retried === 'needs-records' ? undefined : retried.found;
  }

  return {
    caches: [openBlocks.cache, filters.cache, sectionCache.cache],

    async read<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs = ALL): Promise<T | undefined> {
      const { header } = ref;
      if (header.chunks) return readSections(ref, look, needs);
      const result = await withBytes(costOf(header), async () => {
        const [open] = await openBlocks.read([cacheRef(ref)]);
        return open && { found: await look(open.block) };
      });
      if (result) return result.found;
      const full = await findFilled(ref);
      // The block only grew at its end.
      const trimmed = (block: Block) => ({
        ...block,
        order: block.order.filter((index) => index < header.count),
      });
      return full && readSections(full, (block) => look(trimmed(block)), needs);
    },

    /** The blocks that may hold all of the terms. Without filters, because their key is destroyed, all may. */
    async findCandidates(
      name: string,
      part: Partition,
      headers: readonly BlockHeader[],
      terms: readonly number[],
    ): Promise<readonly BlockHeader[]> {
      if (terms.length === 0) return headers;
      let candidates = headers;
      /** Keeps the blocks whose filter may hold some of the terms; a full one's filter has a section for them. */
      const narrow = async (some: readonly number[], section?: string) => {
        const checked = candidates.filter(({ gathering }) => gathering === (section === undefined ? true : undefined));
        const found = await filters.read(checked.map((header) => cacheRef({ name, part, header }, section)));
        const ruledOut = new Set(checked.filter((_, index) => found[index] && !mayContainAll(found[index], some)));
        candidates = candidates.filter((header) => !ruledOut.has(header));
      };
      await narrow(terms);
      for (const section of new Set(terms.map(termSection)))
        await narrow(
          terms.filter((term) => termSection(term) === section),
          section,
        );
      return candidates;
    },
  };
}

function costOf({ size, count, chunks }: BlockHeader, needs?: Needs): number {
  const wholeCost = 2 * size + 1;
  if (!chunks || !needs || needs.records) return wholeCost;
  return Math.min(wholeCost, OPEN_COLUMN.block + OPEN_COLUMN.record * count);
}

function toBlock(block: DecodedBlock, producerId: string, audit: boolean): Block {
  return {
    ...block,
    producerId,
    audit,
    id: memoize(block.id),
    entry: memoize((index) => entryText(block.record(index), block.line(index))),
  };
}

function memoize(compute: (index: number) => string): (index: number) => string {
  const cache: string[] = [];
  return (index) => {
    cache[index] ??= compute(index);
    return cache[index];
  };
}
