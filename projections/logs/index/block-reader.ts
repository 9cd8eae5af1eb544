/** Blocks and term filters of the index, opened when they are needed; caches of both, and few open at once. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { entryText } from '../../../application/logs/query/query-service.js';
import type { Block, Needs } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import { type OpenBlock, openBlock } from './block.js';
import type { BlockHeader, BlockRef } from './block-ref.js';
import { mayHold } from './bloom-filter.js';
import { openPacked } from './compress-and-seal.js';
import type { Partition } from './partitions.js';
import { createSemaphore } from './read-semaphore.js';
import type { BlockRow } from './rows.js';
import { ALL, createSectionCache } from './section-cache.js';
import { createFetching } from './section-loader.js';

/** In bytes. Entries that were shown are kept with their block. */
const BLOCKS_KEPT = 8 * 1024 * 1024;
const FILTERS_KEPT = 16 * 1024 * 1024;
/** What blocks that are being looked into may take at once, kept or not. */
const LOOKED_INTO = 24 * 1024 * 1024;
const RECORD_BYTES = 100;
/** What columns take that are open, in bytes, of a block and of each of its records. */
const OPEN_COLUMN = { block: 64 * 1024, record: 32 };

export interface Opened {
  /** Undefined when the block has gone since. */
  read<T>(block: BlockRef, look: (block: Block) => Promise<T>, needs?: Needs): Promise<T | undefined>;
  /** Of these blocks, in their order, whether each may hold all of the terms, as far as its own row tells. */
  mayHold(
    name: string,
    part: Partition,
    headers: readonly BlockHeader[],
    terms: readonly number[],
  ): Promise<readonly boolean[]>;
  readonly caches: readonly Cache[];
}

export function createBlockReader(db: Db, vault: Vault): Opened {
  const kept = new LRUCache<string, Block>({ maxSize: BLOCKS_KEPT });
  const opening = new Map<string, Promise<Block | undefined>>();
  const filters = new LRUCache<string, Uint8Array>({ maxSize: FILTERS_KEPT });
  const semaphore = createSemaphore(LOOKED_INTO);
  const fetching = createFetching((name) => db.collection(name), vault);
  const apart = createSectionCache(vault, fetching);

  const rowsOf = (name: string, part: Partition) => db.collection<BlockRow>(`${name}.${part.name}`);
  /** Its count too: a block of scattered records that gathers loses some when they expire. */
  const keyOf = (name: string, part: Partition, { _id, _at, count }: BlockHeader) =>
    `${name} ${part.name} ${_id} ${_at} ${count}`;

  async function whole(located: BlockRef): Promise<Block | undefined> {
    const key = keyOf(located.name, located.part, located.header);
    const known = kept.get(key);
    if (known) return known;
    const one = opening.get(key) ?? open(key, located).finally(() => opening.delete(key));
    opening.set(key, one);
    return one;
  }

  async function open(key: string, { name, part, header }: BlockRef): Promise<Block | undefined> {
    const row = await rowsOf(name, part).findOne({ _id: header._id }, { projection: { records: 1 } });
    if (!row?.records) return undefined;
    const pieces = await Promise.all(row.records.map((each) => openPacked(vault, header.subject, each)));
    const readable = pieces.filter((piece) => piece !== undefined);
    const texts = readable.map((piece) => piece.toString());
    const block = shown(openBlock(texts, header._at.toBigInt()), header.producerId, part.audit);
    const characters = texts.reduce((sum, text) => sum + text.length, 0);
    const bytes = readable.reduce((sum, piece) => sum + piece.length, 0);
    // A text in which anything is beyond Latin takes two bytes a character; and entries repeat their records.
    const size = 2 * characters * (bytes > characters ? 2 : 1) + RECORD_BYTES * header.count;
    kept.set(key, block, { size });
    return block;
  }

  /** Where one is that gathered when it was asked for, and is full since: its row has no records any more. */
  async function filled({ name, part, header }: BlockRef): Promise<BlockRef | undefined> {
    const projection = { records: 0, terms: 0, correlations: 0 };
    const row = await rowsOf(name, part).findOne<BlockHeader>({ _id: header._id }, { projection });
    return row?.chunks && { name, part, header: row };
  }

  /** Nothing is looked for while anything is held that others wait for: what takes more than was thought begins anew. */
  async function readSections<T>(located: BlockRef, look: (block: Block) => Promise<T>, needs: Needs) {
    const within = (asked: Needs) =>
      semaphore.within(costOf(located.header, asked), async () => {
        const block = await apart.open(located, asked);
        return block === 'untold' ? block : { found: block && (await look(block)) };
      });
    const told = await within(needs);
    const all = told === 'untold' ? await within({ ...needs, ...ALL }) : told;
    return all === 'untold' ? undefined : all.found;
  }

  /** By id: the terms of blocks that still change are in their rows; of one that is full since, in a register. */
  async function filtersInRows(name: string, part: Partition, headers: readonly BlockHeader[]) {
    const found = new Map<string, Uint8Array>();
    const missing = new Map<string, BlockHeader>();
    for (const header of headers) {
      const known = filters.get(keyOf(name, part, header));
      if (known) found.set(header._id, known);
      else missing.set(header._id, header);
    }
    if (missing.size === 0) return found;
    const rows = rowsOf(name, part).find({ _id: { $in: [...missing.keys()] } }, { projection: { terms: 1 } });
    for await (const { _id, terms } of rows) {
      const header = missing.get(_id)!;
      // Perhaps of a later time: a block that gathers only ever gets more.
      const filter = terms && (await vault.openBytes(header.subject, terms.buffer));
      if (!filter) continue;
      found.set(_id, filter);
      filters.set(keyOf(name, part, header), filter, { size: filter.length + RECORD_BYTES });
    }
    return found;
  }

  return {
    caches: [
      { name: 'logs.blocks', limitBytes: BLOCKS_KEPT, bytes: () => kept.calculatedSize },
      { name: 'logs.filters', limitBytes: FILTERS_KEPT, bytes: () => filters.calculatedSize },
      apart.cache,
    ],

    async read(located, look, needs = ALL) {
      const { header } = located;
      if (header.chunks) return readSections(located, look, needs);
      const told = await semaphore.within(costOf(header), async () => {
        const block = await whole(located);
        return block && { found: await look(block) };
      });
      if (told) return told.found;
      const full = await filled(located);
      // It only ever gets more, at its end.
      const upTo = (block: Block) => ({
        ...block,
        order: block.order.filter((index) => index < header.count),
      });
      return full && readSections(full, (block) => look(upTo(block)), needs);
    },

    async mayHold(name, part, headers, terms) {
      const own = await filtersInRows(
        name,
        part,
        headers.filter(({ gathering }) => gathering),
      );
      return headers.map(({ _id }) => {
        const filter = own.get(_id);
        return !filter || terms.every((term) => mayHold(filter, term));
      });
    },
  };
}

/** What it takes to look into a block, or into columns of it alone. */
function costOf({ size, count, chunks }: BlockHeader, needs?: Needs): number {
  const whole = 2 * size + 1;
  if (!chunks || !needs || needs.records) return whole;
  return Math.min(whole, OPEN_COLUMN.block + OPEN_COLUMN.record * count);
}

function shown(block: OpenBlock, producerId: string, audit: boolean): Block {
  return {
    ...block,
    producerId,
    audit,
    id: eachOnce(block.id),
    entry: eachOnce((index) => entryText(block.record(index), block.line(index))),
  };
}

function eachOnce(make: (index: number) => string): (index: number) => string {
  const made: string[] = [];
  return (index) => {
    made[index] ??= make(index);
    return made[index];
  };
}
