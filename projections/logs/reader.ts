/** The record index as queries see it: which blocks may hold what is asked for, opened when they are needed. */
import { LRUCache } from 'lru-cache';
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import type { Block, BlockRef, HourCount, RecordIndex } from '../../application/logs/record-index.js';
import type { Vault } from '../../application/ports.js';
import type { Filter } from '../../domain/logs/filter.js';
import type { Order } from '../../domain/logs/place.js';
import { correlationHash, termsOfFilter } from '../../domain/logs/words.js';
import { openBlock } from './block.js';
import { merged } from './merged.js';
import { HOURS, type Part, readPart } from './parts.js';
import type { BlockRow, HourRow } from './rows.js';
import { mayHold } from './term-filter.js';

/** Opened blocks are kept up to this much text. */
const OPEN_CHARACTERS = 48 * 1024 * 1024;
const HEADERS_AT_ONCE = 64;

type Header = Omit<BlockRow, 'records' | 'terms' | 'correlations'> & Partial<Pick<BlockRow, 'terms'>>;

export interface ReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the build that is served. */
  readonly build: () => string | undefined;
}

export function createRecordIndex({ db, vault, build }: ReaderPorts): RecordIndex {
  const open = new LRUCache<string, Block>({ maxSize: OPEN_CHARACTERS });

  const collection = (name: string, part: string) => db.collection<BlockRow>(`${name}.${part}`);

  async function parts(name: string, filter: Filter, order: Order): Promise<Part[]> {
    const { from = 0, to = Number.POSITIVE_INFINITY, audit } = filter;
    const found = await db.listCollections({}, { nameOnly: true }).toArray();
    const parts = found.flatMap((each) =>
      each.name.startsWith(`${name}.`) ? (readPart(each.name.slice(name.length + 1)) ?? []) : [],
    );
    return parts
      .filter((part) => part.from <= to && part.to >= from && (audit === undefined || part.audit === audit))
      .sort((a, b) => (order === 'desc' ? b.to - a.to : a.from - b.from));
  }

  async function* blocks(filter: Filter, order: Order): AsyncGenerator<BlockRef> {
    const name = build();
    if (!name) return;
    const terms = termsOfFilter(filter);
    const sources = (await parts(name, filter, order)).map((part) => ({
      bound: order === 'desc' ? part.to : part.from,
      items: headers(name, part, filter, order, terms.length > 0),
    }));
    for await (const { part, header } of merged(sources, order, ({ header }) =>
      order === 'desc' ? header.to : header.from,
    )) {
      if (filter.levels && !header.levels.some(({ level }) => filter.levels?.includes(level))) continue;
      const held = header.terms;
      if (held && !terms.every((term) => mayHold(held.buffer, term))) continue;
      const { from, to, count } = header;
      yield { from, to, count, open: () => openOne(name, part, header) };
    }
  }

  /**
   * Blocks that still gather come from one look, the others in order from a second: a block that fills up in
   * between is in the first, and one that moves on while the second reads is not missed.
   */
  async function* headers(name: string, part: Part, filter: Filter, order: Order, withTerms: boolean) {
    const { from, to, producerId, correlationId } = filter;
    const rows = collection(name, part.name);
    const asked: MongoFilter<BlockRow> = {
      ...(from !== undefined && from > part.from && { to: { $gte: from } }),
      ...(to !== undefined && to < part.to && { from: { $lte: to } }),
      ...(producerId !== undefined && { producerId }),
      ...(correlationId !== undefined && { correlations: correlationHash(correlationId) }),
    };
    const projection = { records: 0, correlations: 0, ...(!withTerms && { terms: 0 }) };
    const sort: Sort = order === 'desc' ? { to: -1 } : { from: 1 };
    const gathering = await rows
      .find<Header>({ ...asked, gathering: true }, { projection })
      .sort(sort)
      .toArray();
    const seen = new Set(gathering.map(({ _id }) => _id));
    async function* full() {
      const cursor = rows.find<Header>(asked, { projection, batchSize: HEADERS_AT_ONCE }).sort(sort);
      for await (const header of cursor) if (!seen.has(header._id)) yield header;
    }
    const boundOf = (header: Header) => (order === 'desc' ? header.to : header.from);
    const sources = [
      { bound: gathering[0] ? boundOf(gathering[0]) : part.from, items: each(gathering) },
      { bound: order === 'desc' ? part.to : part.from, items: full() },
    ];
    for await (const header of merged(sources, order, boundOf)) yield { part, header };
  }

  async function openOne(name: string, part: Part, header: Header): Promise<Block> {
    const key = `${name} ${part.name} ${header._id} ${header._at}`;
    const known = open.get(key);
    if (known) return known;
    const row = await collection(name, part.name).findOne(
      { _id: header._id },
      { projection: { records: 1, subject: 1 } },
    );
    const text = row && (await vault.openText(row.subject, row.records));
    const block = text
      ? { ...openBlock(text, header._at.toBigInt()), producerId: header.producerId, audit: part.audit }
      : NOTHING;
    open.set(key, block, { size: (text?.length ?? 0) + 1 });
    return block;
  }

  return {
    blocks,
    async hours({ from, to, producerId, audit }) {
      const name = build();
      const counts: HourCount[] = [];
      const incomplete = new Set<number>();
      if (!name) return { counts, incomplete: [] };
      const asked = {
        hour: { $gte: from, $lt: to },
        ...(producerId !== undefined && { producerId }),
        ...(audit !== undefined && { audit }),
      };
      for (const row of await db.collection<HourRow>(`${name}.${HOURS}`).find(asked).toArray()) {
        if (row.byLevel) incomplete.add(row.hour);
        for (const { level, event, count } of row.counts)
          counts.push({ hour: row.hour, level, event, count });
      }
      return { counts, incomplete: [...incomplete] };
    },

    async lastReceived() {
      const name = build();
      if (!name) return undefined;
      const hours = db.collection<HourRow>(`${name}.${HOURS}`);
      const [latest] = await hours.find().sort({ received: -1 }).limit(1).toArray();
      if (!latest) return undefined;
      const day = await hours.find({ received: latest.received }, { projection: { last: 1 } }).toArray();
      return Math.max(...day.map(({ last }) => last));
    },
  };
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

/** A block that retention or erasure has taken meanwhile. */
const NOTHING: Block = {
  producerId: '',
  audit: false,
  order: [],
  instant: () => 0,
  level: () => '',
  id: () => '',
  line: () => '',
  record: () => {
    throw new Error('there is no record in it');
  },
};
