/** Reads and decrypts blocks and term tables on demand, with caches and a limit on decrypted bytes. */
import { Binary, type Db } from 'mongodb';
import { createFairSemaphore } from '../../../application/concurrency/index.js';
import { entryText } from '../../../application/logs/query/render-page.js';
import type { Block, Needs } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import { recordId } from '../../../domain/logs/record-id.js';
import {
  assertBuildExists,
  type BlockVersion,
  chunksWithAll,
  createBlockCache,
  decodeTermTable,
  type TermTable,
  termSection,
} from '../../kernel/index.js';
import { decodeBlock } from './block.js';
import { decryptAndInflate } from './compress-and-seal.js';
import {
  type BlockHeader,
  type BlockRef,
  type BlockRow,
  type Candidate,
  cutoffFor,
  HEADER,
  rowsIn,
  type SectionsRow,
} from './rows.js';
import { sectionsId } from './seal-block.js';
import { ALL, createSectionCache } from './section-cache.js';

/** Bytes cached of blocks, and of term tables. */
const BLOCK_CACHE_BYTES = 8 * 1024 * 1024;
const TERM_CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of blocks being read concurrently, cached or not. */
const MAX_READ_BYTES = 24 * 1024 * 1024;
const RECORD_BYTES = 100;
const OPEN_COLUMN = { block: 64 * 1024, record: 32 };
/** Up to so many chunks are read instead of columns. */
const FEW_CHUNKS = 2;

/** An open block, or a term table of a block: of a full one the named section. */
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
  const sectionCache = createSectionCache(db, vault);

  const rowsOf = (name: string) => rowsIn(db, name, 'blocks');
  const cacheRef = ({ name, header }: BlockRef, section?: string): CacheRef => {
    // Full blocks never change.
    const version = header.kind === 'open' ? String(header._at) : '';
    return { name, header, key: `${name} ${header._id} ${section ?? ''}`, version, section };
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

  async function readOpenBlock({ name, header }: BlockRef): Promise<CachedBlock | undefined> {
    const row = await rowsOf(name).findOne({ _id: header._id }, { projection: { records: 1 } });
    if (!row) await assertBuildExists(db, name);
    if (!row?.records) return undefined;
    const pieces = await Promise.all(row.records.map((each) => decryptAndInflate(vault, header.subject, each)));
    const readable = pieces.filter((piece) => piece !== undefined);
    const texts = readable.map((piece) => piece.toString());
    const { producerId, audit } = header;
    const decoded = decodeBlock(texts, header._at.toBigInt());
    const entry = (index: number) => entryText(decoded.record(index), decoded.line(index));
    const block = { ...decoded, producerId, audit, entry };
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const bytes = readable.reduce((sum, piece) => sum + piece.length, 0);
    // Text with any non-Latin-1 character takes two bytes per character.
    return { block, size: characters * (bytes > characters ? 2 : 1) + RECORD_BYTES * header.count };
  }

  /** Term tables: of open blocks from their rows, of full ones one of their sections. */
  const termTables = createBlockCache<CacheRef, TermTable>({
    name: 'logs.terms',
    limitBytes: TERM_CACHE_BYTES,
    sizeOf: ({ byteLength }) => byteLength,
    async load(refs) {
      const { name, section } = refs[0]!;
      const idOf = ({ header }: BlockRef) => (section === undefined ? header._id : sectionsId(header._id, 'terms'));
      const byId = new Map(refs.map((ref) => [idOf(ref), ref]));
      const [collection, field] = section === undefined ? ['blocks', 'terms'] : ['sections', `sections.${section}`];
      const rows = await db
        .collection<Pick<BlockRow, '_id' | 'terms'> & Partial<SectionsRow>>(`${name}.${collection}`)
        .find({ _id: { $in: [...byId.keys()] } }, { projection: { [field]: 1 } })
        .toArray();
      const found = new Map<string, TermTable>();
      // Together, as the key of each may have to be read.
      const opened = rows.map(async ({ _id, terms, sections }) => {
        const { key, header } = byId.get(_id)!;
        // May be newer than the header: an open block only gains terms.
        const sealed = section === undefined ? terms : sections?.[section];
        const bytes = sealed instanceof Binary && (await vault.openBytes(header.subject, sealed.buffer));
        if (bytes) found.set(key, decodeTermTable(bytes));
      });
      await Promise.all(opened);
      if (found.size === 0) await assertBuildExists(db, name);
      return found;
    },
  });

  /** New header of a block that was open when found and is full by now, so its row has no records any more. */
  async function findFilled({ name, header }: BlockRef): Promise<BlockRef | undefined> {
    const row = await rowsOf(name).findOne<BlockHeader>({ _id: header._id }, { projection: HEADER });
    if (!row) await assertBuildExists(db, name);
    return row && row.kind !== 'open' ? { name, header: row } : undefined;
  }

  /** Never waits for more of the semaphore while holding it: if records turn out to be needed, it starts over. */
  async function readSections<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs: Needs) {
    const readLimited = (required: Needs) =>
      withBytes(costOf(ref, required), async () => {
        const block = await sectionCache.open(ref, required);
        return block === 'needs-records' ? block : { found: block && (await look(block)) };
      });
    const result = await readLimited(needs);
    const retried = result === 'needs-records' ? await readLimited({ ...needs, ...ALL }) : result;
    return retried === 'needs-records' ? undefined : retried.found;
  }

  async function readBlock<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs: Needs) {
    const { header } = ref;
    if (header.kind !== 'open') return readSections(ref, look, needs);
    const result = await withBytes(costOf(ref), async () => {
      const [open] = await openBlocks.read([cacheRef(ref)]);
      return open && { found: await look(open.block) };
    });
    if (result) return result.found;
    const full = await findFilled(ref);
    // The block only grew at its end.
    const isKnown = (index: number) => index < header.count;
    return full && readSections({ ...ref, ...full }, (block) => look(restricted(block, isKnown)), needs);
  }

  /** Reads the candidate chunks only; if they are few, their records instead of columns. */
  async function readCandidates<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs: Needs) {
    const { header, chunks } = ref;
    if (!chunks || Array.isArray(needs.records)) return readBlock(ref, look, needs);
    const required = chunks.length <= FEW_CHUNKS ? { ...needs, columns: [], records: true } : needs;
    return readBlock(ref, (block) => look(restricted(block, isInChunks(header, chunks))), required);
  }

  return {
    caches: [openBlocks.cache, termTables.cache, sectionCache.cache],

    read<T>(ref: BlockRef, look: (block: Block) => Promise<T>, needs = ALL): Promise<T | undefined> {
      const { header, expiry } = ref;
      if (!expiry) return readCandidates(ref, look, needs);
      const before = cutoffFor(header, expiry);
      const first = recordId(expiry._at.toBigInt(), 0);
      const remains = (block: Block) => (index: number) => block.instant(index) >= before || block.id(index) > first;
      const required = { ...needs, instants: true, places: true };
      return readCandidates(ref, (block) => look(restricted(block, remains(block))), required);
    },

    /**
     * The candidates with records that may have all of the terms, and the chunks of these. Without tables, because
     * their key is destroyed, all may.
     */
    async findCandidates(
      name: string,
      found: readonly Candidate[],
      terms: readonly number[],
      checked: 'all' | 'open',
    ): Promise<readonly Candidate[]> {
      if (terms.length === 0) return found;
      let candidates = found.map(({ header, chunks = [...header.chunks.keys()] }) => ({ header, chunks }));
      /** Keeps the chunks that may have these terms; a full block's table has a section for them. */
      const narrow = async (some: readonly number[], section?: string) => {
        const isChecked = ({ header: { kind } }: Candidate) => (kind === 'open') === (section === undefined);
        const narrowed = candidates.filter(isChecked);
        const tables = await termTables.read(narrowed.map(({ header }) => cacheRef({ name, header }, section)));
        for (const [nth, candidate] of narrowed.entries()) {
          const table = tables[nth];
          if (table) candidate.chunks = candidate.chunks.filter(chunksWithAll(table, some));
        }
        candidates = candidates.filter(({ chunks }) => chunks.length > 0);
      };
      await narrow(terms);
      for (const section of new Set(checked === 'all' ? terms.map(termSection) : []))
        await narrow(
          terms.filter((term) => termSection(term) === section),
          section,
        );
      return candidates.map(({ header, chunks }) => ({
        header,
        ...(chunks.length < header.chunks.length && { chunks }),
      }));
    },
  };
}

function isInChunks({ count, chunks: starts }: BlockHeader, chunks: readonly number[]): (index: number) => boolean {
  const isIn = new Uint8Array(count);
  for (const chunk of chunks) isIn.fill(1, starts[chunk], starts[chunk + 1]);
  return (index) => isIn[index] === 1;
}

const restricted = (block: Block, remains: (index: number) => boolean): Block => ({
  ...block,
  order: block.order.filter(remains),
});

/** Bytes; without `needs` of a block that is read as a whole. */
function costOf({ header: { size, count, chunks: all }, chunks = all }: BlockRef, needs?: Needs): number {
  const wholeCost = 2 * size + 1;
  if (!needs) return wholeCost;
  return needs.records
    ? (wholeCost * chunks.length) / all.length
    : Math.min(wholeCost, OPEN_COLUMN.block + OPEN_COLUMN.record * count);
}
