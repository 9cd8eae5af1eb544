/** Finds the blocks of a build that may hold matches, in result order and without decrypting them. */
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../application/logs/query/versioned-memo.js';
import type { Coverage } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { levelBit } from '../../../domain/logs/levels.js';
import type { Order } from '../../../domain/logs/record-id.js';
import type { BlockReader } from './block-reader.js';
import { correlationDigester } from './compress-and-seal.js';
import { mergeSorted } from './k-way-merge.js';
import { BUCKETS, type Partition, parsePartition } from './partitions.js';
import type { BlockHeader, BlockRef, BlockRow, BucketRow } from './rows.js';

/** Blocks per page, doubling from page to page regardless of day: a rare record may be in any of many. */
const BLOCK_PAGE = { first: 64, max: 512 };

interface PageSize {
  size: number;
}

function nextSize(pageSize: PageSize): number {
  const { size } = pageSize;
  pageSize.size = Math.min(size * 2, BLOCK_PAGE.max);
  return size;
}
const CACHE_BYTES = 4 * 1024 * 1024;
const ROW_BYTES = 500;

const PROJECTION = { records: 0, terms: 0, correlations: 0 };

interface BlockQuery {
  readonly filter: Filter;
  readonly order: Order;
  readonly checkpoint: Checkpoint;
  readonly paging: { readonly headers: PageSize; readonly filtered: PageSize };
}

export function createBlockFinder(db: Db, vault: Vault, blockReader: BlockReader, version: () => unknown) {
  const sizeOf = (found: readonly unknown[]) => ROW_BYTES * (found.length + 1);
  const memo = createVersionedMemo({ name: 'logs.headers', version, limitBytes: CACHE_BYTES, sizeOf });

  async function parts(name: string, filter: Filter, order: Order, coverage?: Coverage): Promise<readonly Partition[]> {
    const { from = 0, to = Number.POSITIVE_INFINITY, audit } = filter;
    const all = await memo.get(`${name} parts`, async () => {
      const found = await db.listCollections({}, { nameOnly: true }).toArray();
      return found.flatMap((each) =>
        each.name.startsWith(`${name}.`) ? (parsePartition(each.name.slice(name.length + 1)) ?? []) : [],
      );
    });
    return all
      .filter((part) => part.from <= to && part.to >= from && (audit === undefined || part.audit === audit))
      .filter(({ outOfOrder }) => coverage === undefined || outOfOrder === (coverage === 'not counted'))
      .sort((a, b) => (order === 'desc' ? b.to - a.to : a.from - b.from));
  }

  /** Digests of a correlation id, one per producer and day with records in the collection. */
  async function digests(name: string, part: Partition, id: string): Promise<readonly number[]> {
    const buckets = await memo.get(`${name} buckets`, () =>
      db.collection<BucketRow>(`${name}.${BUCKETS}`).find().toArray(),
    );
    const found = buckets.filter(({ parts }) => parts?.includes(part.name));
    const made = await Promise.all(found.map(({ _id }) => correlationDigester(vault, _id)));
    return made.flatMap((digest) => (digest ? [digest(id)] : []));
  }

  /** Open blocks are listed first, full ones later in pages. So a block that fills up in between is not missed. */
  async function* headers(name: string, part: Partition, query: BlockQuery) {
    const { filter, order, checkpoint, paging } = query;
    const rows = db.collection<BlockRow>(`${name}.${part.name}`);
    const criteria = conditionOf(part, filter);
    const boundOf = (header: BlockHeader) => (order === 'desc' ? header.to : header.from);
    const sign = order === 'desc' ? -1 : 1;
    // Sorted here: the store would sort whole rows including records, which exceeds its memory limit.
    const openBlocks = (
      await memo.get(`${name} ${part.name} openBlocks ${JSON.stringify(criteria)}`, () =>
        rows.find<BlockHeader>({ ...criteria, gathering: true }, { projection: PROJECTION }).toArray(),
      )
    ).toSorted((a, b) => sign * (boundOf(a) - boundOf(b)));
    const visited = new Set(openBlocks.map(({ _id }) => _id));
    const firstVisit = ({ _id }: BlockHeader) => !visited.has(_id) && visited.add(_id);

    async function* fullBlocks() {
      const { correlationId } = filter;
      // Correlation ids of open blocks are not indexed; their term filters are checked instead.
      const correlations = correlationId !== undefined && {
        correlations: { $in: await digests(name, part, correlationId) },
      };
      const terms = correlations ? [] : termsOfFilter(filter);
      const sort: Sort = order === 'desc' ? { to: -1 } : { from: 1 };
      let last: number | undefined;
      for (let limit = nextSize(paging.headers); ; ) {
        await checkpoint();
        const beyond = last === undefined ? {} : order === 'desc' ? { to: { $lte: last } } : { from: { $gte: last } };
        const all = { $and: [{ ...criteria, ...correlations }, beyond] };
        const page = await memo.get(`${name} ${part.name} ${order} ${limit} ${JSON.stringify(all)}`, () =>
          rows.find<BlockHeader>(all, { projection: PROJECTION }).sort(sort).limit(limit).toArray(),
        );
        yield* filterBlocks(name, part, page.filter(firstVisit), query, terms);
        if (page.length < limit) return;
        const end = boundOf(page.at(-1)!);
        // If all have the same bound, only a longer page gets past it.
        limit = end === last ? limit * 2 : nextSize(paging.headers);
        last = end;
      }
    }
    const sources = [
      {
        bound: openBlocks[0] ? boundOf(openBlocks[0]) : part.from,
        items: filterBlocks(name, part, openBlocks, query),
      },
      { bound: order === 'desc' ? part.to : part.from, items: fullBlocks() },
    ];
    for await (const header of mergeSorted(sources, order, boundOf)) yield { name, part, header };
  }

  /** Drops blocks that their levels, or term filters with any of `terms`, rule out. */
  async function* filterBlocks(
    name: string,
    part: Partition,
    all: readonly BlockHeader[],
    { filter, checkpoint, paging }: BlockQuery,
    terms = termsOfFilter(filter),
  ) {
    const levelBits = filter.levels?.reduce((bits, level) => bits | levelBit(level), 0);
    const some = levelBits === undefined ? all : all.filter(({ levels }) => levels & levelBits);
    for (let from = 0, to = 0; from < some.length; from = to) {
      to = from + nextSize(paging.filtered);
      for (const header of await blockReader.findCandidates(name, part, some.slice(from, to), terms)) {
        await checkpoint();
        yield header;
      }
    }
  }

  async function* blocks(
    name: string,
    filter: Filter,
    order: Order,
    checkpoint: Checkpoint,
    coverage?: Coverage,
  ): AsyncGenerator<BlockRef> {
    const paging = { headers: { size: BLOCK_PAGE.first }, filtered: { size: BLOCK_PAGE.first } };
    const query = { filter, order, checkpoint, paging };
    const boundOf = ({ header }: BlockRef) => (order === 'desc' ? header.to : header.from);
    const sources = (await parts(name, filter, order, coverage)).map((part) => ({
      bound: order === 'desc' ? part.to : part.from,
      items: headers(name, part, query),
    }));
    const rare = filter.correlationId !== undefined;
    yield* mergeSorted(sources, order, boundOf, rare);
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
