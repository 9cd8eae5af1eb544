/** Finds the blocks of a build that may hold matches, in result order and without decrypting them. */
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../application/logs/query/versioned-memo.js';
import type { Coverage } from '../../../application/logs/record-index.js';
import type { Cache, Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { levelBit } from '../../../domain/logs/levels.js';
import type { Order } from '../../../domain/logs/record-id.js';
import type { BlockReader } from './block-reader.js';
import { correlationDigester } from './compress-and-seal.js';
import { filterGroupsIn } from './filter-group.js';
import { mergeSorted } from './k-way-merge.js';
import { BUCKETS, type Partition, parsePartition, sectionsCollection } from './partitions.js';
import {
  type FilterGroupBlocks,
  type FilterGroupRange,
  findFilterGroups,
  readFilterGroups,
} from './read-filter-groups.js';
import type { BlockHeader, BlockRef, BlockRow, BucketRow } from './rows.js';

/** Blocks per page, doubling from page to page regardless of day: a rare record may be in any of many. */
const BLOCK_PAGE = { first: 64, max: 512 };
/** Filter groups read together, each with about 10 KB of headers plus 64 KB per queried term section. */
const GROUP_PAGE = { first: 8, max: 64 };

interface PageSize {
  size: number;
}

function nextSize(pageSize: PageSize, max = BLOCK_PAGE.max): number {
  const { size } = pageSize;
  pageSize.size = Math.min(size * 2, max);
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

export interface BlockFinderPorts {
  readonly db: Db;
  readonly vault: Vault;
  readonly blockReader: BlockReader;
  readonly version: () => unknown;
}

export interface BlockFinder {
  blocks(
    name: string,
    filter: Filter,
    order: Order,
    checkpoint: Checkpoint,
    coverage?: Coverage,
  ): AsyncGenerator<BlockRef>;
  readonly cache: Cache;
}

export function createBlockFinder({ db, vault, blockReader, version }: BlockFinderPorts): BlockFinder {
  const sizeOf = (found: readonly unknown[] | FilterGroupBlocks) =>
    ROW_BYTES * (('headers' in found ? found.headers : found).length + 1);
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

  /**
   * Open blocks are listed first in a single query, full ones later from filter groups. So a block that fills up in
   * between is not missed, and a group replaced by a larger one while being read is looked up again.
   */
  async function* headers(name: string, part: Partition, query: BlockQuery) {
    const { filter, order, checkpoint, paging } = query;
    const rows = db.collection<BlockRow>(`${name}.${part.name}`);
    const sort: Sort = order === 'desc' ? { to: -1 } : { from: 1 };
    const criteria = conditionOf(part, filter);
    const find = (criteria: object, more: object, limit: number) => {
      const cacheKey = `${name} ${part.name} ${order} ${limit} ${JSON.stringify([criteria, more])}`;
      const all = { $and: [criteria, more] };
      return memo.get(cacheKey, () =>
        rows.find<BlockHeader>(all, { projection: PROJECTION }).sort(sort).limit(limit).toArray(),
      );
    };
    const boundOf = (header: FilterGroupRange) => (order === 'desc' ? header.to : header.from);
    const sign = order === 'desc' ? -1 : 1;
    const inOrder = <Bound extends FilterGroupRange>(all: readonly Bound[]) =>
      all.toSorted((a, b) => sign * (boundOf(a) - boundOf(b)));
    // Sorted here: the store would sort whole rows including records, which exceeds its memory limit.
    const openBlocks = inOrder(
      await memo.get(`${name} ${part.name} openBlocks ${JSON.stringify(criteria)}`, () =>
        rows.find<BlockHeader>({ ...criteria, gathering: true }, { projection: PROJECTION }).toArray(),
      ),
    );
    const visited = new Set(openBlocks.map(({ _id }) => _id));
    const firstVisit = ({ _id }: BlockHeader) => !visited.has(_id) && visited.add(_id);
    const filterGroups = filterGroupsIn(db.collection(`${name}.${sectionsCollection(part.name)}`));
    async function* fromFilterGroups() {
      await checkpoint();
      const terms = termsOfFilter(filter);
      const cacheKey = `${name} ${part.name} filterGroups ${JSON.stringify([criteria, terms])}`;
      const heads = inOrder(await memo.get(cacheKey, () => findFilterGroups(filterGroups, part, filter)));
      const knownIds = new Set(heads.map(({ _id }) => _id));
      const blocksOf = async (ids: readonly string[]): Promise<readonly BlockHeader[]> => {
        const { headers, isWhole } = await memo.get(`${cacheKey} ${ids.join()}`, () =>
          readFilterGroups(filterGroups, vault, ids, filter),
        );
        if (isWhole) return headers;
        // They were compacted into a larger group, or have expired.
        const now = await findFilterGroups(filterGroups, part, filter);
        const newIds = now.map(({ _id }) => _id).filter((id) => !knownIds.has(id));
        for (const id of newIds) knownIds.add(id);
        return newIds.length > 0 ? [...headers, ...(await blocksOf(newIds))] : headers;
      };
      const page = { size: terms.length > 0 ? GROUP_PAGE.max : GROUP_PAGE.first };
      let pending: readonly BlockHeader[] = [];
      for (let from = 0, to = 0; from < heads.length; from = to) {
        await checkpoint();
        to = from + nextSize(page, GROUP_PAGE.max);
        const found = await blocksOf(heads.slice(from, to).map(({ _id }) => _id));
        const [pageStart, pageEnd] = [heads[from], heads[to]].map((head) => head && sign * boundOf(head));
        // Blocks added since may sort before ones already returned; drop those.
        const added = found.filter((each) => sign * boundOf(each) >= pageStart!).filter(firstVisit);
        const all = inOrder([...pending, ...added]);
        const end = pageEnd === undefined ? -1 : all.findIndex((each) => sign * boundOf(each) > pageEnd);
        pending = end < 0 ? [] : all.slice(end);
        yield* filterBlocks(name, part, end < 0 ? all : all.slice(0, end), query);
      }
    }
    async function* fromCorrelationIndex() {
      // Correlation ids of open blocks are not indexed; their term filters are checked instead.
      const { correlationId } = filter;
      const digest = correlationId !== undefined && {
        correlations: { $in: await digests(name, part, correlationId) },
      };

      let last: number | undefined;
      for (let limit = nextSize(paging.headers); ; ) {
        await checkpoint();
        const pageEnd = order === 'desc' ? { to: { $lte: last } } : { from: { $gte: last } };
        const page = await find({ ...criteria, ...digest }, last === undefined ? {} : pageEnd, limit);
        yield* filterBlocks(name, part, page.filter(firstVisit), query);
        if (page.length < limit) return;
        const end = boundOf(page.at(-1)!);
        // If all have the same bound, only a longer page gets past it.
        limit = end === last ? limit * 2 : nextSize(paging.headers);
        last = end;
      }
    }
    const findFull = filter.correlationId !== undefined ? fromCorrelationIndex : fromFilterGroups;
    const sources = [
      {
        bound: openBlocks[0] ? boundOf(openBlocks[0]) : part.from,
        items: filterBlocks(name, part, openBlocks, query),
      },
      { bound: order === 'desc' ? part.to : part.from, items: findFull() },
    ];
    for await (const header of mergeSorted(sources, order, boundOf)) yield { name, part, header };
  }

  /** Drops blocks that their levels or term filters rule out. */
  async function* filterBlocks(
    name: string,
    part: Partition,
    all: readonly BlockHeader[],
    { filter, checkpoint, paging }: BlockQuery,
  ) {
    const terms = termsOfFilter(filter);
    const levelBits = filter.levels?.reduce((bits, level) => bits | levelBit(level), 0);
    const some = levelBits === undefined ? all : all.filter(({ levels }) => levels & levelBits);
    for (let from = 0, to = 0; from < some.length; from = to) {
      to = from + nextSize(paging.filtered);
      const page = some.slice(from, to);
      const mayHold = terms.length > 0 ? await blockReader.mayHold(name, part, page, terms) : undefined;
      for (const [at, header] of page.entries()) {
        await checkpoint();
        if (!mayHold || mayHold[at]) yield header;
      }
    }
  }

  async function* blocks(name: string, filter: Filter, order: Order, checkpoint: Checkpoint, coverage?: Coverage) {
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
