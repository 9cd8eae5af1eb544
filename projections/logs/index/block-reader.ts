/** Reads and decrypts blocks and term filters on demand, with caches and a limit on decrypted bytes. */
import { LRUCache } from 'lru-cache';
import { Binary, type Db } from 'mongodb';
import { createFairSemaphore, createSingleFlight } from '../../../application/concurrency/index.js';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Block, Needs } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import { mayContain } from '../../kernel/index.js';
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

export type BlockReader = ReturnType<typeof createBlockReader>;

export function createBlockReader(db: Db, vault: Vault) {
  const blocks = new LRUCache<string, Block>({ maxSize: BLOCK_CACHE_BYTES });
  const singleFlight = createSingleFlight();
  const filters = new LRUCache<string, Uint8Array>({ maxSize: FILTER_CACHE_BYTES });
  const semaphore = createFairSemaphore('reading blocks', MAX_READ_BYTES, Number.POSITIVE_INFINITY);
  /** Runs a job that needs this many bytes. Exports may wait for long. */
  const withBytes = <Result>(bytes: number, job: () => Promise<Result>) =>
    semaphore(job, '', { weight: bytes, maxWaitMs: Number.POSITIVE_INFINITY });
  const sectionLoader = createSectionLoader((name) => db.collection(name), vault);
  const sectionCache = createSectionCache(vault, sectionLoader);

  const rowsOf = (name: string, part: Partition) => db.collection<BlockRow>(`${name}.${part.name}`);
  /** Includes the count, because an open block of scattered records loses some when they expire. */
  const keyOf = (name: string, part: Partition, { _id, _at, count }: BlockHeader) =>
    `${name} ${part.name} ${_id} ${_at} ${count}`;

  async function getBlock(ref: BlockRef): Promise<Block | undefined> {
    const key = keyOf(ref.name, ref.part, ref.header);
    return blocks.get(key) ?? singleFlight(key, () => loadBlock(key, ref));
  }

  async function loadBlock(key: string, { name, part, header }: BlockRef): Promise<Block | undefined> {
    const row = await rowsOf(name, part).findOne({ _id: header._id }, { projection: { records: 1 } });
    if (!row?.records) return undefined;
    const pieces = await Promise.all(row.records.map((each) => decryptAndInflate(vault, header.subject, each)));
    const readable = pieces.filter((piece) => piece !== undefined);
    const texts = readable.map((piece) => piece.toString());
    const block = toBlock(decodeBlock(texts, header._at.toBigInt()), header.producerId, part.audit);
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const bytes = readable.reduce((sum, piece) => sum + piece.length, 0);
    // Text with any non-Latin-1 character takes two bytes per character; rendered entries repeat the records.
    const size = 2 * characters * (bytes > characters ? 2 : 1) + RECORD_BYTES * header.count;
    blocks.set(key, block, { size });
    return block;
  }

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

  /** Term filters by block: of open blocks from their rows, or a section of those of full blocks. */
  async function filtersOf(name: string, part: Partition, headers: readonly BlockHeader[], section?: string) {
    const found = new Map<string, Uint8Array>();
    const missing = new Map<string, BlockHeader>();
    for (const header of headers) {
      const cached = filters.get(`${keyOf(name, part, header)} ${section}`);
      if (cached) found.set(header._id, cached);
      else missing.set(section === undefined ? header._id : sectionsId(header._id, 'terms'), header);
    }
    if (missing.size === 0) return found;
    const [collection, field] =
      section === undefined ? [part.name, 'terms'] : [sectionsCollection(part.name), `sections.${section}`];
    const rows = db
      .collection<Pick<BlockRow, '_id' | 'terms'> & Partial<SectionsRow>>(`${name}.${collection}`)
      .find({ _id: { $in: [...missing.keys()] } }, { projection: { [field]: 1 } });
    for await (const { _id, terms, sections } of rows) {
      const header = missing.get(_id)!;
      // May be newer than the header: an open block only gains terms.
      const sealed = section === undefined ? terms : sections?.[section];
      const filter = sealed instanceof Binary && (await vault.openBytes(header.subject, sealed.buffer));
      if (!filter) continue;
      found.set(header._id, filter);
      filters.set(`${keyOf(name, part, header)} ${section}`, filter, { size: filter.length + RECORD_BYTES });
    }
    return found;
  }

  return {
    caches: [
      { name: 'logs.blocks', limitBytes: BLOCK_CACHE_BYTES, bytes: () => blocks.calculatedSize },
      { name: 'logs.filters', limitBytes: FILTER_CACHE_BYTES, bytes: () => filters.calculatedSize },
      sectionCache.cache,
    ],

    async read<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs = ALL): Promise<T | undefined> {
      const { header } = ref;
      if (header.chunks) return readSections(ref, look, needs);
      const result = await withBytes(costOf(header), async () => {
        const block = await getBlock(ref);
        return block && { found: await look(block) };
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
      const narrow = async (some: readonly number[], isChecked: (header: BlockHeader) => boolean, section?: string) => {
        const found = await filtersOf(name, part, candidates.filter(isChecked), section);
        candidates = candidates.filter(({ _id }) => {
          const filter = found.get(_id);
          return !filter || some.every((term) => mayContain(filter, term));
        });
      };
      await narrow(terms, ({ gathering }) => gathering === true);
      for (const section of new Set(terms.map(termSection))) {
        const some = terms.filter((term) => termSection(term) === section);
        await narrow(some, ({ gathering }) => !gathering, section);
      }
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
