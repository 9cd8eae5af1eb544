/** The record index as queries see it: which blocks may hold what is asked for, opened when they are needed. */
import { LRUCache } from 'lru-cache';
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import { createAsked } from '../../application/logs/asked.js';
import { entryText } from '../../application/logs/queries.js';
import type { Block, BlockRef, HourCount, RecordIndex } from '../../application/logs/record-index.js';
import type { Vault } from '../../application/ports.js';
import type { Filter } from '../../domain/logs/filter.js';
import type { Order } from '../../domain/logs/place.js';
import { correlationHash, termsOfFilter } from '../../domain/logs/words.js';
import { type OpenBlock, openBlock } from './block.js';
import { merged } from './merged.js';
import { HOURS, type Part, readPart } from './parts.js';
import type { BlockRow, HourRow } from './rows.js';
import { mayHold } from './term-filter.js';

/** Opened blocks are kept up to this much text, entries that were shown included. */
const OPEN_CHARACTERS = 24 * 1024 * 1024;
const HEADERS_AT_ONCE = 64;
const HEADER_PAGES = 1000;
const BYTES_PER_RECORD = 100;

type Header = Omit<BlockRow, 'records' | 'terms' | 'correlations'> & Partial<Pick<BlockRow, 'terms'>>;

export interface ReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the build that is served. */
  readonly build: () => string | undefined;
  /** Changes with the rows, as far as this node knows. */
  readonly version: () => unknown;
}

export function createRecordIndex({ db, vault, build, version }: ReaderPorts): RecordIndex {
  const open = new LRUCache<string, Block>({ maxSize: OPEN_CHARACTERS });
  const asked = createAsked(version, HEADER_PAGES);

  const collection = (name: string, part: string) => db.collection<BlockRow>(`${name}.${part}`);

  async function parts(name: string, filter: Filter, order: Order): Promise<readonly Part[]> {
    const { from = 0, to = Number.POSITIVE_INFINITY, audit } = filter;
    const parts = await asked.once(`${name} parts`, async () => {
      const found = await db.listCollections({}, { nameOnly: true }).toArray();
      return found.flatMap((each) =>
        each.name.startsWith(`${name}.`) ? (readPart(each.name.slice(name.length + 1)) ?? []) : [],
      );
    });
    return parts
      .filter((part) => part.from <= to && part.to >= from && (audit === undefined || part.audit === audit))
      .sort((a, b) => (order === 'desc' ? b.to - a.to : a.from - b.from));
  }

  async function* blocks(filter: Filter, order: Order): AsyncGenerator<BlockRef> {
    const name = build();
    if (!name) return;
    const terms = termsOfFilter(filter);
    const boundOf = ({ header }: { header: Header }) => (order === 'desc' ? header.to : header.from);
    const sources = (await parts(name, filter, order)).map((part) => ({
      bound: order === 'desc' ? part.to : part.from,
      items: headers(name, part, filter, order, terms.length > 0),
    }));
    const rare = filter.correlationId !== undefined;
    for await (const { part, header } of merged(sources, order, boundOf, rare)) {
      if (filter.levels && !header.levels.some(({ level }) => filter.levels?.includes(level))) continue;
      const held = header.terms;
      if (held && !terms.every((term) => mayHold(held.buffer, term))) continue;
      const { from, to, count } = header;
      yield { from, to, count, open: () => openOne(name, part, header) };
    }
  }

  /**
   * Blocks that still gather come from one look, the others in order from later ones: a block that fills up in
   * between is in the first, and one that moves on while the others are read is not missed.
   */
  async function* headers(name: string, part: Part, filter: Filter, order: Order, withTerms: boolean) {
    const rows = collection(name, part.name);
    const projection = { records: 0, correlations: 0, ...(!withTerms && { terms: 0 }) };
    const sort: Sort = order === 'desc' ? { to: -1 } : { from: 1 };
    const condition = conditionOf(part, filter);
    const find = (condition: object, more: object, limit: number) =>
      asked.once(
        `${name} ${part.name} ${order} ${withTerms} ${limit} ${JSON.stringify([condition, more])}`,
        () =>
          rows
            .find<Header>({ $and: [condition, more] }, { projection })
            .sort(sort)
            .limit(limit)
            .toArray(),
      );
    const boundOf = (header: Header) => (order === 'desc' ? header.to : header.from);
    // Their correlations are not indexed: their terms say whether they are worth a look.
    const { correlations: _, ...any } = condition;
    const gathering = await find(any, { gathering: true }, 0);
    const seen = new Set(gathering.map(({ _id }) => _id));
    async function* others() {
      let last: number | undefined;
      for (let limit = HEADERS_AT_ONCE; ; ) {
        const beyond = order === 'desc' ? { to: { $lte: last } } : { from: { $gte: last } };
        const page = await find(condition, last === undefined ? {} : beyond, limit);
        const fresh = page.filter(({ _id }) => !seen.has(_id));
        for (const header of fresh) seen.add(header._id);
        for (const header of fresh) yield header;
        if (page.length < limit) return;
        const end = boundOf(page.at(-1)!);
        // All of one bound: the next page must be longer to get beyond it.
        limit = end === last ? limit * 2 : HEADERS_AT_ONCE;
        last = end;
      }
    }
    const sources = [
      { bound: gathering[0] ? boundOf(gathering[0]) : part.from, items: each(gathering) },
      { bound: order === 'desc' ? part.to : part.from, items: others() },
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
    const { subject = '', records = [] } = row ?? {};
    const texts = await Promise.all(records.map((each) => vault.openText(subject, each)));
    const readable = texts.filter((text) => text !== undefined);
    const opened = openBlock(readable, header._at.toBigInt());
    const block = shown(opened, header.producerId, part.audit);
    const characters = readable.reduce((sum, text) => sum + text.length, 0);
    open.set(key, block, { size: 2 * characters + BYTES_PER_RECORD * opened.count + 1 });
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

function conditionOf(part: Part, { from, to, producerId, correlationId }: Filter): MongoFilter<BlockRow> {
  return {
    ...(from !== undefined && from > part.from && { to: { $gte: from } }),
    ...(to !== undefined && to < part.to && { from: { $lte: to } }),
    ...(producerId !== undefined && { producerId }),
    ...(correlationId !== undefined && { correlations: correlationHash(correlationId) }),
  };
}

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
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
