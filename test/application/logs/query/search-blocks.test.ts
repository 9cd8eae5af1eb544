/** Pages and counts equal those of a full scan over all records, however the index has packed them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { aggregate, type Grouping } from '../../../../application/logs/query/aggregate.js';
import { yieldOnly } from '../../../../application/logs/query/query-budget.js';
import type { Page } from '../../../../application/logs/query/render-page.js';
import { renderPage } from '../../../../application/logs/query/render-page.js';
import { search } from '../../../../application/logs/query/search-blocks.js';
import type { Block, BlockRef } from '../../../../application/logs/record-index.js';
import { EVERYTHING, type Filter, matches } from '../../../../domain/logs/filter.js';
import type { JsonObject } from '../../../../domain/logs/json.js';
import type { IdentifiedRecord } from '../../../../domain/logs/record.js';
import { compareRecords, type Order, parseCursor } from '../../../../domain/logs/record-id.js';
import { HOUR_MS } from '../../../../domain/logs/timestamp.js';
import { filter, NOON, record } from '../../../domain/logs/arbitrary.js';
import { type Batch, type MemoryIndex, memoryIndex } from '../../../support/memory-record-index.js';
import { grouping, keysOf } from '../../../support/record-index.js';

const batch: fc.Arbitrary<Batch> = fc.record({
  producerId: fc.constantFrom('api', 'web'),
  audit: fc.boolean(),
  outOfOrder: fc.boolean(),
  records: fc.array(record, { minLength: 1, maxLength: 4 }),
});
const index = fc.array(batch, { maxLength: 8 }).map((batches) => memoryIndex(batches));
const order = fc.constantFrom<Order>('asc', 'desc');

/** Instants at and near the boundaries of a few hours. */
const nearHours = fc
  .tuple(fc.integer({ min: -3, max: 3 }), fc.constantFrom(-1, 0, 1, 60_000))
  .map(([hours, ms]) => NOON + hours * HOUR_MS + ms);
const LEVELS = ['INFO', 'ERROR', 'STRANGE', 'ODD'];

/** Records with what the hourly counts cover: levels, common or not, and events. */
const columns: fc.Arbitrary<Batch> = fc.record({
  producerId: fc.constantFrom('api', 'web'),
  audit: fc.boolean(),
  records: fc.array(
    fc.record(
      {
        timestamp: nearHours,
        level: fc.constantFrom(...LEVELS),
        event: fc.constantFrom('started', 'stopped'),
      },
      { requiredKeys: ['timestamp'] },
    ) as fc.Arbitrary<JsonObject>,
    { minLength: 1, maxLength: 4 },
  ),
});
const columnFilter: fc.Arbitrary<Filter> = fc
  .record(
    {
      from: nearHours,
      to: nearHours,
      levels: fc.subarray(LEVELS, { minLength: 1 }),
      event: fc.constantFrom('started', 'never'),
      producerId: fc.constantFrom('api', 'web'),
      audit: fc.boolean(),
      not: fc.record({
        levels: fc.subarray(LEVELS),
        events: fc.subarray(['started']),
        producerIds: fc.subarray(['web']),
        fields: fc.constant([]),
      }),
    },
    { requiredKeys: [] },
  )
  .map((some) => ({ ...EVERYTHING, ...some }));
const counted = fc.oneof(
  fc.tuple(index, filter),
  fc.tuple(
    fc.array(columns, { minLength: 1, maxLength: 6 }).map((batches) => memoryIndex(batches)),
    columnFilter,
  ),
);

function passing({ all }: MemoryIndex, filter: Filter, order: Order): IdentifiedRecord[] {
  const found = all.filter((each) => matches(filter, each)).sort(compareRecords);
  return order === 'asc' ? found : found.reverse();
}

/** The same index with changed block references. */
const readThrough = (index: MemoryIndex, change: (ref: BlockRef) => Partial<BlockRef>): MemoryIndex => ({
  ...index,
  async *blocks(...args) {
    for await (const ref of index.blocks(...args)) yield { ...ref, ...change(ref) };
  },
});
/** The same index with blocks that are changed when read. */
const openAs = (index: MemoryIndex, change: (block: Block) => Partial<Block>): MemoryIndex =>
  readThrough(index, (ref) => ({
    read: (look) => ref.read((block) => look({ ...block, ...change(block) })),
  }));

const queryOf = (filter: Filter, order: Order) => ({ filter, order, checkpoint: yieldOnly });
const idsOf = (page: Page) => page.entries.map(({ id }) => id);

describe('search results', () => {
  it('are the matching records, in order, across pages', () =>
    fc.assert(
      fc.asyncProperty(index, filter, order, fc.integer({ min: 1, max: 5 }), async (index, filter, order, limit) => {
        const expected = passing(index, filter, order).map(({ id }) => id);
        const found: string[] = [];
        for (let cursor: string | undefined, more = true; more; ) {
          const after = cursor === undefined ? undefined : parseCursor(cursor);
          const page: Page = JSON.parse(
            String(await renderPage(index, { filter, order, limit, ...(after && { after }) }, yieldOnly)),
          );
          expect(page.limit).to.equal(limit);
          expect(page.entries.length).to.be.at.most(limit);
          found.push(...idsOf(page));
          expect(page.hasMore).to.equal(found.length < expected.length);
          expect(page.nextCursor !== undefined).to.equal(page.hasMore);
          [cursor, more] = [page.nextCursor, page.hasMore];
        }
        expect(found).to.deep.equal(expected);
      }),
    ));

  it('count every matching record under each of its keys, largest count first', () =>
    fc.assert(
      fc.asyncProperty(counted, grouping, async ([index, filter], grouping) => {
        const counts = new Map<string, number>();
        const found = passing(index, filter, 'asc');
        for (const key of found.flatMap((each) => keysOf(grouping, each))) counts.set(key, (counts.get(key) ?? 0) + 1);
        const buckets = [...counts]
          .map(([key, count]) => ({ key, count }))
          .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
        const budget = { remaining: 1e6 };
        const answer = await aggregate(index, { filter, grouping, checkpoint: yieldOnly, budget }, 100);
        expect(answer).to.deep.equal({ buckets, total: found.length });
        expect(budget.remaining).to.equal(1e6);
      }),
    ));

  const hours = Array.from({ length: 24 }, (_, hour) => ({
    producerId: 'api',
    audit: false,
    records: [{ timestamp: NOON - hour * HOUR_MS, level: 'INFO', event: 'started' }],
  }));

  it('are counted without reading a block where hourly counts suffice', async () => {
    const index = memoryIndex(hours);
    const budget = { remaining: 1e6 };
    const count = async (filter: Partial<Filter>, grouping: Grouping = { by: 'level' }) => {
      const before = index.opened();
      const { total } = await aggregate(
        index,
        { filter: { ...EVERYTHING, ...filter }, grouping, checkpoint: yieldOnly, budget },
        10,
      );
      return [total, index.opened() - before];
    };
    expect(await count({ levels: ['INFO'] })).to.deep.equal([24, 0]);
    expect(await count({ producerId: 'api', audit: false, levels: ['INFO', 'WARN'] })).to.deep.equal([24, 0]);
    expect(await count({}, { by: 'time', intervalMs: HOUR_MS })).to.deep.equal([24, 0]);
    expect(await count({}, { by: 'producer' })).to.deep.equal([24, 0]);
    const not = { levels: ['WARN'], events: [], producerIds: ['web'], fields: [] };
    expect(await count({ levels: ['INFO'], not })).to.deep.equal([24, 0]);
    expect(await count({ from: NOON, to: NOON + HOUR_MS - 1, levels: ['INFO'] })).to.deep.equal([1, 0]);
    // Part of an hour is not covered by hourly counts.
    expect((await count({ from: NOON - HOUR_MS + 1, levels: ['INFO'] }))[1]).to.be.greaterThan(0);
    expect((await count({}, { by: 'time', intervalMs: 60_000 }))[1]).to.be.greaterThan(0);
  });

  it('read no more blocks than needed', async () => {
    const index = memoryIndex(hours);
    const ofSize = (size: number) => readThrough(index, (ref) => ({ size, read: ref.read }));
    const large = ofSize(128 * 1024);
    for await (const hit of search(large, queryOf(EVERYTHING, 'desc'), 1)) expect(hit.instant).to.equal(NOON);
    expect(index.opened()).to.equal(1);
    for await (const hit of search(large, queryOf(EVERYTHING, 'asc'), 1))
      expect(hit.instant).to.equal(NOON - 23 * HOUR_MS);
    expect(index.opened()).to.equal(2);
    // Rarely is one of several small blocks enough.
    for await (const hit of search(ofSize(32 * 1024), queryOf(EVERYTHING, 'desc'), 1))
      expect(hit.instant).to.equal(NOON);
    expect(index.opened()).to.equal(6);
  });

  it('read twice as much concurrently each time for rare matches, and few if they are large', async () => {
    let reading = 0;
    let maxReading = 0;
    const slow = (index: MemoryIndex, size: number) =>
      readThrough(index, (ref) => ({
        size,
        async read(look) {
          maxReading = Math.max(maxReading, ++reading);
          await new Promise(setImmediate);
          return ref.read(look).finally(() => reading--);
        },
      }));
    const many = memoryIndex(Array.from({ length: 3 }, () => hours).flat());
    const rare = { ...EVERYTHING, event: 'never' };
    for await (const _ of search(slow(many, 64 * 1024), queryOf(rare, 'desc'), 5)) expect.fail();
    expect(many.opened()).to.equal(72);
    expect(maxReading).to.equal(16);
    maxReading = 0;
    for await (const _ of search(slow(many, 3 * 1024 * 1024), queryOf(rare, 'desc'), 5)) expect.fail();
    expect(maxReading).to.equal(2);
  });

  it('fill a page with fewer records if these are large, but with one at least', async () => {
    const index = memoryIndex(hours.slice(0, 5));
    const large = openAs(index, (block) => ({
      entry: (at) => `{"id":"${block.id(at)}","data":"${'x'.repeat(1_500_000)}"}`,
    }));
    const page: Page = JSON.parse(
      String(await renderPage(large, { filter: EVERYTHING, order: 'desc', limit: 5 }, yieldOnly)),
    );
    expect(page.entries.length).to.equal(2);
    expect(page.hasMore).to.equal(true);
  });

  const one = (records: readonly JsonObject[]) => memoryIndex([{ producerId: 'api', audit: false, records }]);
  const pageIn = async (index: MemoryIndex, limit: number): Promise<Page> =>
    JSON.parse(String(await renderPage(index, { filter: EVERYTHING, order: 'asc', limit }, yieldOnly)));

  it('are read in batches of 200, or fewer if they are large', async () => {
    const small = one(Array.from({ length: 450 }, (_, nth) => ({ timestamp: NOON + nth })));
    expect((await pageIn(small, 1000)).entries).to.have.length(450);
    expect(small.opened()).to.equal(1 + 3);
    const text = 'x'.repeat(60_000);
    const large = one(Array.from({ length: 40 }, (_, nth) => ({ timestamp: NOON + nth, text })));
    expect((await pageIn(large, 1000)).entries).to.have.length(40);
    expect(large.opened()).to.equal(1 + 3);
    const few = one(Array.from({ length: 450 }, (_, nth) => ({ timestamp: NOON + nth })));
    expect((await pageIn(few, 10)).entries).to.have.length(10);
    expect(few.opened()).to.equal(1 + 1);
  });

  it('end the page when it is full, even if later records would still fit', async () => {
    const index = one(Array.from({ length: 450 }, (_, nth) => ({ timestamp: NOON + nth })));
    // The second entry is too large for the page; those of the next batch are not.
    const growing = openAs(index, () => ({
      entry: (at) => `{"id":"${at}","data":"${'x'.repeat(at === 1 ? 5_000_000 : 1000)}"}`,
    }));
    expect(idsOf(await pageIn(growing, 1000))).to.deep.equal(['0']);
  });

  it('parse no record whose text cannot match', async () => {
    const index = one([
      { timestamp: NOON, event: 'started', message: 'disk full' },
      { timestamp: NOON + 1, event: 'stopped', message: 'disk fine' },
      { timestamp: NOON + 2, event: 'started', message: 'all 80 well', requestId: 'r1' },
    ]);
    let parsed = 0;
    const counting = openAs(index, (block) => ({
      record(at) {
        parsed++;
        return block.record(at);
      },
    }));
    const found = async (filter: Partial<Filter>) => {
      parsed = 0;
      let count = 0;
      for await (const _ of search(counting, queryOf({ ...EVERYTHING, ...filter }, 'asc'), 9)) count++;
      return [count, parsed];
    };
    expect(await found({ event: 'started' })).to.deep.equal([2, 2]);
    expect(await found({ correlationId: 'r1' })).to.deep.equal([1, 1]);
    expect(await found({ fields: [{ path: 'message', value: 'disk fine' }] })).to.deep.equal([1, 1]);
    expect(await found({ words: ['disk'] })).to.deep.equal([2, 2]);
    expect(await found({ words: ['disk', 'full'] })).to.deep.equal([1, 1]);
    expect(await found({ words: ['80', 'well'] })).to.deep.equal([1, 1]);
    expect(await found({ from: NOON + 1 })).to.deep.equal([2, 0]);
  });

  it('close the index iterator when the consumer stops', async () => {
    const index = memoryIndex(hours);
    let closed = 0;
    const closing: MemoryIndex = {
      ...index,
      async *blocks(...args) {
        try {
          yield* index.blocks(...args);
        } finally {
          closed++;
        }
      },
    };
    for await (const _ of search(closing, queryOf(EVERYTHING, 'desc'), 24)) break;
    expect(closed).to.equal(1);
  });

  it('omit records that expired after they were found', async () => {
    const index = memoryIndex(hours.slice(0, 3));
    let nth = 0;
    const expiring = readThrough(index, (ref) => {
      let looks = 0;
      const isExpired = nth++ === 1;
      return { read: async (look) => (isExpired && looks++ > 0 ? undefined : ref.read(look)) };
    });
    const page: Page = JSON.parse(
      String(await renderPage(expiring, { filter: EVERYTHING, order: 'desc', limit: 3 }, yieldOnly)),
    );
    const [first, , third] = passing(index, EVERYTHING, 'desc').map(({ id }) => id);
    expect(idsOf(page)).to.deep.equal([first, third]);
  });
});
