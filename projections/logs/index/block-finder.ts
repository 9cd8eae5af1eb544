/** Finds the blocks of a build that may hold matches, in result order and without decrypting their records. */
import type { Db, Filter as MongoFilter, Sort } from 'mongodb';
import type { Checkpoint } from '../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../application/logs/query/versioned-memo.js';
import type { Coverage } from '../../../application/logs/record-index.js';
import type { Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { levelBit } from '../../../domain/logs/levels.js';
import type { Order } from '../../../domain/logs/record-id.js';
import { DAY_MS, dayName, MAX_INSTANT, startOfDay } from '../../../domain/logs/timestamp.js';
import { assertBuildExists } from '../../kernel/index.js';
import type { BlockReader } from './block-reader.js';
import { correlationDigester } from './compress-and-seal.js';
import {
  type BlockHeader,
  type BlockKind,
  type BlockRef,
  type BlockRow,
  type Candidate,
  cutoffFor,
  HEADER,
  isExpired,
  isPartWithin,
  kindOf,
  rowsIn,
} from './rows.js';

/** Blocks per page, doubling from page to page: a rare record may be in any of many. */
const BLOCK_PAGE = { any: 64, byTerm: 128, max: 512 };
const CACHE_BYTES = 4 * 1024 * 1024;
const ROW_BYTES = 500;
/** Digests per query: the store looks each up, and the embedded one at most 10,000. */
const MAX_DIGESTS = 5000;

/** Conditions on blocks; with digests, for blocks with some of them. */
type Criteria = MongoFilter<BlockRow> & { readonly digests?: Digests };

interface Digests {
  readonly some: readonly number[];
  /** A block may be found by a collision with one of `some`: the chunks of any other of its digests count too. */
  readonly all: ReadonlySet<number>;
}

interface BlockQuery {
  readonly name: string;
  readonly filter: Filter;
  readonly order: Order;
  readonly checkpoint: Checkpoint;
  /** Whether a block may hold matches, and has not been returned yet. */
  readonly isRelevant: (candidate: Candidate) => boolean;
}

type Page = readonly Candidate[];

export function createBlockFinder(db: Db, vault: Vault, blockReader: BlockReader, version: () => unknown) {
  const sizeOf = (found: readonly unknown[]) => ROW_BYTES * (found.length + 1);
  const memo = createVersionedMemo({ name: 'logs.headers', version, limitBytes: CACHE_BYTES, sizeOf });

  /** Memoized rows of a build. If there are none, it may have been dropped. */
  const read = <Row>(name: string, key: string, load: () => Promise<readonly Row[]>): Promise<readonly Row[]> =>
    memo.get(`${name} ${key}`, async () => {
      const rows = await load();
      if (rows.length === 0) await assertBuildExists(db, name);
      return rows;
    });

  const find = (name: string, { digests, ...criteria }: Criteria, sort: Sort = {}, limit = 0): Promise<Page> =>
    read(name, JSON.stringify([criteria, sort, limit, digests?.some]), async () => {
      const rows = rowsIn(db, name, 'blocks');
      if (!digests) {
        const headers = await rows.find<BlockHeader>(criteria, { projection: HEADER, sort, limit }).toArray();
        return headers.map((header) => ({ header }));
      }
      const correlated = { correlations: { $in: [...digests.some] }, ...criteria };
      const found = await rows.find(correlated, { projection: { records: 0, terms: 0 }, sort, limit }).toArray();
      return found.map((row) => withDigests(row, digests.all));
    });

  /** Digests of a correlation id, one per bucket and part with records that the filter may match. */
  async function digestsOf(
    name: string,
    { correlationId = '', producerId, audit, from = 0, to = MAX_INSTANT }: Filter,
  ) {
    const buckets = await read(name, 'buckets', () => rowsIn(db, name, 'buckets').find().toArray());
    const [first, last] = [dayName(from), dayName(to)];
    const found = buckets
      .filter((each) => (producerId ?? each.producerId) === each.producerId && (audit ?? each.audit) === each.audit)
      .flatMap(({ _id, parts = [] }) => parts.map((part) => ({ subject: _id, part })))
      .filter(({ part }) => isPartWithin(part, first, last));
    const made = await Promise.all(found.map(({ subject, part }) => correlationDigester(vault, subject, part)));
    return made.flatMap((digest) => (digest ? [digest(correlationId)] : []));
  }

  /** Blocks that meet the criteria, in order. */
  async function* pages(query: BlockQuery, criteria: Criteria): AsyncGenerator<Page, undefined> {
    const { name, order, checkpoint, isRelevant } = query;
    const [bound, direction, beyond] =
      order === 'desc' ? (['to', -1, '$lte'] as const) : (['from', 1, '$gte'] as const);
    let last: number | undefined;
    for (let limit = termsOfFilter(query.filter).length > 0 ? BLOCK_PAGE.byTerm : BLOCK_PAGE.any; ; ) {
      await checkpoint();
      const rest = last === undefined ? criteria : { ...criteria, $and: [{ [bound]: { [beyond]: last } }] };
      const page = await find(name, rest, { [bound]: direction }, limit);
      const relevant = page.filter(isRelevant);
      if (relevant.length > 0) yield relevant;
      if (page.length < limit) return;
      const end = page.at(-1)!.header[bound];
      // If all have the same bound, only a longer page gets past it.
      limit = end === last ? limit * 2 : Math.max(limit, Math.min(limit * 2, BLOCK_PAGE.max));
      last = end;
    }
  }

  /** Pages of the full blocks with the correlation id, or of each of these kinds. */
  async function fullBlocks(query: BlockQuery, kinds: readonly BlockKind[]) {
    const { name, filter } = query;
    if (filter.correlationId === undefined) return kinds.map((kind) => pages(query, conditionOf(filter, kind)));
    const found = await digestsOf(name, filter);
    const all = new Set(found);
    const starts = Array.from({ length: Math.ceil(found.length / MAX_DIGESTS) }, (_, nth) => nth * MAX_DIGESTS);
    return starts.map((start) => {
      const digests = { some: found.slice(start, start + MAX_DIGESTS), all };
      return pages(query, { digests, ...conditionOf(filter) });
    });
  }

  async function* blocks(
    name: string,
    filter: Filter,
    order: Order,
    checkpoint: Checkpoint,
    coverage?: Coverage,
  ): AsyncGenerator<BlockRef> {
    const [openBlocks, [expiry = null]] = await Promise.all([
      find(name, conditionOf(filter, 'open')),
      read(name, 'expiry', () => rowsIn(db, name, 'expiry').find().toArray()),
    ]);
    const levels = filter.levels?.reduce((bits, level) => bits | levelBit(level), 0) ?? -1;
    const kinds = new Set(kindsOf(filter, coverage));
    const visited = new Set<string>();
    const isRelevant = ({ header }: Candidate) => {
      if (visited.has(header._id) || isExpired(header, expiry)) return false;
      visited.add(header._id);
      return (
        (header.levels & levels) !== 0 && kinds.has(header.kind === 'open' ? kindOf(header.gathered!) : header.kind)
      );
    };
    // Open blocks are listed before full ones, so that a block that fills up in between is not missed. Sorted here: the
    // store would sort whole rows including records, which exceeds its memory limit.
    const compare = ({ header: a }: Candidate, { header: b }: Candidate) =>
      order === 'desc' ? b.to - a.to : a.from - b.from;
    const open = openBlocks.filter(isRelevant).sort(compare);
    const full = await fullBlocks({ name, filter, order, checkpoint, isRelevant }, [...kinds]);
    const terms = termsOfFilter(filter);
    // Digests of correlation ids found the full blocks.
    const checked = filter.correlationId === undefined ? 'all' : 'open';
    for await (const batch of mergeSorted([pagesOf(open), ...full], compare)) {
      for (const candidate of await blockReader.findCandidates(name, batch, terms, checked)) {
        await checkpoint();
        const { header } = candidate;
        yield { name, ...candidate, expiry: expiry && header.from < cutoffFor(header, expiry) ? expiry : undefined };
      }
    }
  }

  return { blocks, cache: memo.cache };
}

const kindsOf = ({ audit }: Filter, coverage?: Coverage): BlockKind[] => [
  ...(coverage !== 'not counted' && audit !== true ? ['day' as const] : []),
  ...(coverage !== 'not counted' && audit !== false ? ['audit' as const] : []),
  ...(coverage !== 'counted' ? ['scattered' as const] : []),
];

/** The block of a row with those of its chunks that have some of the digests. */
function withDigests(row: BlockRow, digests: ReadonlySet<number>): Candidate {
  const { correlations = [], correlationEnds: ends = [], ...header } = row;
  const hasAny = (chunk: number) => correlations.slice(ends[chunk - 1], ends[chunk]).some((each) => digests.has(each));
  return { header, chunks: [...header.chunks.keys()].filter(hasAny) };
}

/** Blocks of one day are sought only where the days of the range are, because the store seeks by one of the bounds. */
function conditionOf({ from = 0, to = MAX_INSTANT, producerId }: Filter, kind?: BlockKind): Criteria {
  const isOfDay = kind === 'day' || kind === 'audit';
  return {
    ...(kind && { kind }),
    from: { $gte: isOfDay ? startOfDay(from) : 0, $lte: to },
    to: { $gte: from, $lte: isOfDay ? startOfDay(to) + DAY_MS : MAX_INSTANT },
    ...(producerId !== undefined && { producerId }),
  };
}

/** The term tables of a page are read together; there may be an open block of each producer and day. */
function* pagesOf(candidates: Page): Generator<Page, undefined> {
  for (let from = 0; from < candidates.length; from += BLOCK_PAGE.max)
    yield candidates.slice(from, from + BLOCK_PAGE.max);
}

interface Source {
  page: Candidate[];
  readonly pages: Pages;
}

type Pages = AsyncIterator<Page, undefined> | Iterator<Page, undefined>;

/** Merges sorted sources; reads the next page of each when one is used up. */
async function* mergeSorted(
  all: readonly Pages[],
  compare: (a: Candidate, b: Candidate) => number,
): AsyncGenerator<Page> {
  let sources: Source[] = all.map((pages) => ({ page: [], pages }));
  const refill = async (source: Source) => {
    if (source.page.length === 0) source.page = [...((await source.pages.next()).value ?? [])];
  };
  for (;;) {
    await Promise.all(sources.map(refill));
    sources = sources.filter(({ page }) => page.length > 0);
    if (sources.length === 0) return;
    const merged: Candidate[] = [];
    while (sources.every(({ page }) => page.length > 0)) {
      const next = sources.reduce((best, each) => (compare(each.page[0]!, best.page[0]!) < 0 ? each : best));
      merged.push(next.page.shift()!);
    }
    yield merged;
  }
}
