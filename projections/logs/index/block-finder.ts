/** Which blocks of a build may hold what is memo for, in the order of answers, told without opening any. */
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../application/logs/query/versioned-memo.js';
import type { Among } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { levelBit } from '../../../domain/logs/levels.js';
import type { Order } from '../../../domain/logs/record-id.js';
import type { Opened } from './block-reader.js';
import type { BlockHeader, BlockRef } from './block-ref.js';
import { correlationDigester } from './compress-and-seal.js';
import { registersIn } from './filter-group.js';
import { merged } from './k-way-merge.js';
import { KEEPINGS, type Partition, readPart, sectionsIn } from './partitions.js';
import { type RegisteredBlocks, type RegisterHead, registeredBlocks, registerHeads } from './read-filter-groups.js';
import type { BlockRow, KeepingRow } from './rows.js';

/** So many blocks first, and twice as many each time, whatever their day: what is rare is looked for in many. */
const AT_ONCE = { first: 64, most: 512 };
/** Of so many the blocks are read together: each has some 10 KB of them, and 64 KB of terms for each that is memo for. */
const REGISTERS_AT_ONCE = { first: 8, most: 64 };

interface Growing {
  size: number;
}

function next(growing: Growing, most = AT_ONCE.most): number {
  const { size } = growing;
  growing.size = Math.min(size * 2, most);
  return size;
}
/** What is remembered of the rows while they do not change, in bytes, and what one of them takes. */
const ANSWERS_KEPT = 4 * 1024 * 1024;
const ROW_BYTES = 500;

const PROJECTION = { records: 0, terms: 0, correlations: 0 };

interface Asked {
  readonly filter: Filter;
  readonly order: Order;
  readonly checkpoint: Checkpoint;
  readonly paging: { readonly headers: Growing; readonly screened: Growing };
}

export interface HeadersPorts {
  readonly db: Db;
  readonly vault: Vault;
  readonly opened: Opened;
  /** Changes with the rows, as far as this node knows. */
  readonly version: () => unknown;
}

export interface Headers {
  /** The blocks of a build that may hold what passes; see `RecordIndex.blocks`. */
  blocks(name: string, filter: Filter, order: Order, checkpoint: Checkpoint, among?: Among): AsyncGenerator<BlockRef>;
  readonly cache: Cache;
}

export function createHeaders({ db, vault, opened, version }: HeadersPorts): Headers {
  const sizeOf = (found: readonly unknown[] | RegisteredBlocks) =>
    ROW_BYTES * (('headers' in found ? found.headers : found).length + 1);
  const memo = createVersionedMemo({ name: 'logs.headers', version, limitBytes: ANSWERS_KEPT, sizeOf });

  async function parts(name: string, filter: Filter, order: Order, among?: Among): Promise<readonly Partition[]> {
    const { from = 0, to = Number.POSITIVE_INFINITY, audit } = filter;
    const all = await memo.get(`${name} parts`, async () => {
      const found = await db.listCollections({}, { nameOnly: true }).toArray();
      return found.flatMap((each) =>
        each.name.startsWith(`${name}.`) ? (readPart(each.name.slice(name.length + 1)) ?? []) : [],
      );
    });
    return all
      .filter((part) => part.from <= to && part.to >= from && (audit === undefined || part.audit === audit))
      .filter(({ outOfOrder }) => among === undefined || outOfOrder === (among === 'not counted'))
      .sort((a, b) => (order === 'desc' ? b.to - a.to : a.from - b.from));
  }

  /** What a correlation id is found by: a digest for every producer and day that has records in the collection. */
  async function digests(name: string, part: Partition, id: string): Promise<readonly number[]> {
    const keepings = await memo.get(`${name} keepings`, () =>
      db.collection<KeepingRow>(`${name}.${KEEPINGS}`).find().toArray(),
    );
    const found = keepings.filter(({ parts }) => parts?.includes(part.name));
    const made = await Promise.all(found.map(({ _id }) => correlationDigester(vault, _id)));
    return made.flatMap((digest) => (digest ? [digest(id)] : []));
  }

  /**
   * Blocks that still gather come from one look, the others from later ones, those in registers as far as these are of
   * what is due: a block that fills up in between is in the first, and a register that others take the place of while
   * they are read is looked for again.
   */
  async function* headers(name: string, part: Partition, asking: Asked) {
    const { filter, order, checkpoint, paging } = asking;
    const rows = db.collection<BlockRow>(`${name}.${part.name}`);
    const sort: Sort = order === 'desc' ? { to: -1 } : { from: 1 };
    const any = conditionOf(part, filter);
    const find = (condition: object, more: object, limit: number) => {
      const question = `${name} ${part.name} ${order} ${limit} ${JSON.stringify([condition, more])}`;
      const all = { $and: [condition, more] };
      return memo.get(question, () =>
        rows.find<BlockHeader>(all, { projection: PROJECTION }).sort(sort).limit(limit).toArray(),
      );
    };
    const boundOf = (header: RegisterHead) => (order === 'desc' ? header.to : header.from);
    const sign = order === 'desc' ? -1 : 1;
    const inOrder = <Bound extends RegisterHead>(all: readonly Bound[]) =>
      all.toSorted((a, b) => sign * (boundOf(a) - boundOf(b)));
    // Not by the store: it would sort them whole, with their records, and has no room for those of hundreds.
    const gathering = inOrder(
      await memo.get(`${name} ${part.name} gathering ${JSON.stringify(any)}`, () =>
        rows.find<BlockHeader>({ ...any, gathering: true }, { projection: PROJECTION }).toArray(),
      ),
    );
    const seen = new Set(gathering.map(({ _id }) => _id));
    const unseen = ({ _id }: BlockHeader) => !seen.has(_id) && seen.add(_id);
    const registers = registersIn(db.collection(`${name}.${sectionsIn(part.name)}`));
    async function* listed() {
      await checkpoint();
      const terms = termsOfFilter(filter);
      const question = `${name} ${part.name} registers ${JSON.stringify([any, terms])}`;
      const heads = inOrder(await memo.get(question, () => registerHeads(registers, part, filter)));
      const known = new Set(heads.map(({ _id }) => _id));
      const blocksOf = async (ids: readonly string[]): Promise<readonly BlockHeader[]> => {
        const { headers, isWhole } = await memo.get(`${question} ${ids.join()}`, () =>
          registeredBlocks(registers, vault, ids, filter),
        );
        if (isWhole) return headers;
        // They have become one of many, or have expired.
        const now = await registerHeads(registers, part, filter);
        const news = now.map(({ _id }) => _id).filter((id) => !known.has(id));
        for (const id of news) known.add(id);
        return news.length > 0 ? [...headers, ...(await blocksOf(news))] : headers;
      };
      const page = { size: terms.length > 0 ? REGISTERS_AT_ONCE.most : REGISTERS_AT_ONCE.first };
      let waiting: readonly BlockHeader[] = [];
      for (let from = 0, to = 0; from < heads.length; from = to) {
        await checkpoint();
        to = from + next(page, REGISTERS_AT_ONCE.most);
        const found = await blocksOf(heads.slice(from, to).map(({ _id }) => _id));
        const [begun, beyond] = [heads[from], heads[to]].map((head) => head && sign * boundOf(head));
        // What is new since it was memo for may come before what was given.
        const due = found.filter((each) => sign * boundOf(each) >= begun!).filter(unseen);
        const all = inOrder([...waiting, ...due]);
        const end = beyond === undefined ? -1 : all.findIndex((each) => sign * boundOf(each) > beyond);
        waiting = end < 0 ? [] : all.slice(end);
        yield* screened(name, part, end < 0 ? all : all.slice(0, end), asking);
      }
    }
    async function* indexed() {
      // Correlations of blocks that gather are not indexed: their terms say whether they are worth a look.
      const { correlationId } = filter;
      const digest = correlationId !== undefined && {
        correlations: { $in: await digests(name, part, correlationId) },
      };

      let last: number | undefined;
      for (let limit = next(paging.headers); ; ) {
        await checkpoint();
        const beyond = order === 'desc' ? { to: { $lte: last } } : { from: { $gte: last } };
        const page = await find({ ...any, ...digest }, last === undefined ? {} : beyond, limit);
        yield* screened(name, part, page.filter(unseen), asking);
        if (page.length < limit) return;
        const end = boundOf(page.at(-1)!);
        // Where all are of one bound, only a longer page gets beyond it.
        limit = end === last ? limit * 2 : next(paging.headers);
        last = end;
      }
    }
    const others = filter.correlationId !== undefined ? indexed : listed;
    const sources = [
      {
        bound: gathering[0] ? boundOf(gathering[0]) : part.from,
        items: screened(name, part, gathering, asking),
      },
      { bound: order === 'desc' ? part.to : part.from, items: others() },
    ];
    for await (const header of merged(sources, order, boundOf)) yield { name, part, header };
  }

  /** Without those that their levels or their terms rule out. */
  async function* screened(
    name: string,
    part: Partition,
    all: readonly BlockHeader[],
    { filter, checkpoint, paging }: Asked,
  ) {
    const terms = termsOfFilter(filter);
    const wanted = filter.levels?.reduce((bits, level) => bits | levelBit(level), 0);
    const some = wanted === undefined ? all : all.filter(({ levels }) => levels & wanted);
    for (let from = 0, to = 0; from < some.length; from = to) {
      to = from + next(paging.screened);
      const page = some.slice(from, to);
      const held = terms.length > 0 ? await opened.mayHold(name, part, page, terms) : undefined;
      for (const [at, header] of page.entries()) {
        await checkpoint();
        if (!held || held[at]) yield header;
      }
    }
  }

  async function* blocks(name: string, filter: Filter, order: Order, checkpoint: Checkpoint, among?: Among) {
    const paging = { headers: { size: AT_ONCE.first }, screened: { size: AT_ONCE.first } };
    const asking = { filter, order, checkpoint, paging };
    const boundOf = ({ header }: BlockRef) => (order === 'desc' ? header.to : header.from);
    const sources = (await parts(name, filter, order, among)).map((part) => ({
      bound: order === 'desc' ? part.to : part.from,
      items: headers(name, part, asking),
    }));
    const rare = filter.correlationId !== undefined;
    yield* merged(sources, order, boundOf, rare);
  }

  return { blocks, cache: memo.cache };
}

function conditionOf(part: Partition, { from, to, producerId }: Filter): MongoFilter<BlockRow> {
  return {
    ...(from !== undefined && from > part.from && { to: { $gte: from } }),
    ...(to !== undefined && to < part.to && { from: { $lte: to } }),
    ...(producerId !== undefined && { producerId }),
  };
}
