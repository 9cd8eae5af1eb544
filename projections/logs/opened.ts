/** Blocks and term filters of the index, opened when they are needed; caches of both, and few open at once. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import { entryText } from '../../application/logs/queries.js';
import type { Block } from '../../application/logs/record-index.js';
import type { Cache, Vault } from '../../application/ports.js';
import { type OpenBlock, openBlock } from './block.js';
import type { Part } from './parts.js';
import type { BlockRow } from './rows.js';
import { openPacked } from './sealing.js';
import { createSemaphore } from './semaphore.js';

/** In bytes. Entries that were shown are kept with their block. */
const BLOCKS_KEPT = 24 * 1024 * 1024;
const FILTERS_KEPT = 16 * 1024 * 1024;
/** What blocks that are being looked into may take at once, kept or not. */
const LOOKED_INTO = 24 * 1024 * 1024;
const RECORD_BYTES = 100;

/** What the index tells of a block in clear. */
export type Header = Pick<
  BlockRow,
  '_id' | '_at' | 'subject' | 'producerId' | 'from' | 'to' | 'count' | 'size' | 'levels'
>;

/** A block in its collection. */
export interface Located {
  /** Name of the build. */
  readonly name: string;
  readonly part: Part;
  readonly header: Header;
}

export interface Opened {
  /** Undefined when the block has gone since. */
  read<T>(block: Located, look: (block: Block) => Promise<T>): Promise<T | undefined>;
  /** Their term filters, in their order; undefined for what has gone. */
  filters(name: string, part: Part, headers: readonly Header[]): Promise<readonly (Uint8Array | undefined)[]>;
  readonly caches: readonly Cache[];
}

export function createOpened(db: Db, vault: Vault): Opened {
  const kept = new LRUCache<string, Block>({ maxSize: BLOCKS_KEPT });
  const opening = new Map<string, Promise<Block | undefined>>();
  const filters = new LRUCache<string, Uint8Array>({ maxSize: FILTERS_KEPT });
  const semaphore = createSemaphore(LOOKED_INTO);

  const rowsOf = (name: string, part: Part) => db.collection<BlockRow>(`${name}.${part.name}`);
  /** Its count too: a block of scattered records loses some when they expire. */
  const keyOf = (name: string, part: Part, { _id, _at, count }: Header) =>
    `${name} ${part.name} ${_id} ${_at} ${count}`;

  async function open(key: string, { name, part, header }: Located): Promise<Block | undefined> {
    const row = await rowsOf(name, part).findOne({ _id: header._id }, { projection: { records: 1 } });
    if (!row) return undefined;
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

  async function fetchFilters(name: string, part: Part, headers: readonly Header[]) {
    const ids = headers.map(({ _id }) => _id);
    const rows = await rowsOf(name, part)
      .find({ _id: { $in: ids } }, { projection: { terms: 1 } })
      .toArray();
    const sealed = new Map(rows.map(({ _id, terms }) => [_id, terms]));
    return Promise.all(
      headers.map(async (header) => {
        const terms = sealed.get(header._id);
        // Perhaps of a later time: a block that gathers only ever gets more.
        const filter = terms && (await vault.openBytes(header.subject, terms.buffer));
        if (filter) filters.set(keyOf(name, part, header), filter, { size: filter.length + RECORD_BYTES });
        return filter;
      }),
    );
  }

  return {
    caches: [
      { name: 'logs.blocks', limitBytes: BLOCKS_KEPT, bytes: () => kept.calculatedSize },
      { name: 'logs.filters', limitBytes: FILTERS_KEPT, bytes: () => filters.calculatedSize },
    ],

    read(located, look) {
      const { name, part, header } = located;
      return semaphore.within(2 * header.size + 1, async () => {
        const key = keyOf(name, part, header);
        let block = kept.get(key);
        if (!block) {
          const one = opening.get(key) ?? open(key, located).finally(() => opening.delete(key));
          opening.set(key, one);
          block = await one;
        }
        return block && look(block);
      });
    },

    async filters(name, part, headers) {
      const known = headers.map((header) => filters.get(keyOf(name, part, header)));
      const missing = headers.filter((_, at) => !known[at]);
      if (missing.length === 0) return known;
      const fetched = await fetchFilters(name, part, missing);
      const found = new Map(missing.map((header, at) => [header, fetched[at]]));
      return headers.map((header, at) => known[at] ?? found.get(header));
    },
  };
}

function shown(block: OpenBlock, producerId: string, audit: boolean): Block {
  return {
    ...block,
    producerId,
    audit,
    id: remembered(block.id),
    entry: remembered((index) => entryText(block.record(index), block.line(index))),
  };
}

function remembered(make: (index: number) => string): (index: number) => string {
  const made: string[] = [];
  return (index) => {
    made[index] ??= make(index);
    return made[index];
  };
}
