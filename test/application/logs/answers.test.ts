/** Pages and counts say what a look at every record would say, however the index has packed them. */
import { expect } from 'chai';
import fc from 'fast-check';
import { aggregate, type Grouping, MISSING } from '../../../application/logs/aggregate.js';
import { unhurried } from '../../../application/logs/pace.js';
import { pageOf } from '../../../application/logs/page.js';
import type { Page } from '../../../application/logs/queries.js';
import { search } from '../../../application/logs/search.js';
import { EVERYTHING, type Filter, leavesAt, matches } from '../../../domain/logs/filter.js';
import { HOUR_MS } from '../../../domain/logs/instant.js';
import { comparePlaces, type Order, placeOf } from '../../../domain/logs/place.js';
import type { PlacedRecord } from '../../../domain/logs/record.js';
import { filter, NOON, record } from '../../domain/logs/arbitrary.js';
import { type Batch, type MemoryIndex, memoryIndex } from '../../support/memory-index.js';

const batch: fc.Arbitrary<Batch> = fc.record({
  producerId: fc.constantFrom('api', 'web'),
  audit: fc.boolean(),
  scattered: fc.boolean(),
  records: fc.array(record, { minLength: 1, maxLength: 4 }),
});
const index = fc.array(batch, { maxLength: 8 }).map((batches) => memoryIndex(batches));
const order = fc.constantFrom<Order>('asc', 'desc');

const grouping = fc.oneof<fc.Arbitrary<Grouping>[]>(
  fc.constantFrom<Grouping>({ by: 'level' }, { by: 'event' }, { by: 'correlation' }),
  fc.constantFrom('http.status', 'tags', 'a', 'a.b').map((path) => ({ by: 'field', path })),
  fc.constantFrom(60_000, HOUR_MS, 24 * HOUR_MS).map((intervalMs) => ({ by: 'time', intervalMs })),
);

/** The filter with the bounds of whole hours, where kept counts answer. */
const hourly = filter.map(({ from, to, ...rest }) => ({
  ...rest,
  ...(from !== undefined && { from: from - (from % HOUR_MS) }),
  ...(to !== undefined && { to: to - (to % HOUR_MS) + HOUR_MS - 1 }),
}));

function passing({ all }: MemoryIndex, filter: Filter, order: Order): PlacedRecord[] {
  const found = all.filter((each) => matches(filter, each)).sort(comparePlaces);
  return order === 'asc' ? found : found.reverse();
}

function keysOf(grouping: Grouping, each: PlacedRecord): string[] {
  if (grouping.by === 'field') {
    const values = new Set(leavesAt(each.data, grouping.path).map(String));
    return values.size > 0 ? [...values] : [MISSING];
  }
  if (grouping.by === 'time')
    return [new Date(Math.floor(each.instant / grouping.intervalMs) * grouping.intervalMs).toISOString()];
  if (grouping.by === 'level') return [each.level];
  return [(grouping.by === 'event' ? each.event : each.correlationId) ?? MISSING];
}

const asked = (filter: Filter, order: Order) => ({ filter, order, pace: unhurried });
const idsOf = (page: Page) => page.entries.map(({ id }) => id);

describe('answers', () => {
  it('are the records that pass, in order, page by page', () =>
    fc.assert(
      fc.asyncProperty(
        index,
        filter,
        order,
        fc.integer({ min: 1, max: 5 }),
        async (index, filter, order, limit) => {
          const expected = passing(index, filter, order).map(({ id }) => id);
          const found: string[] = [];
          for (let cursor: string | undefined, more = true; more; ) {
            const after = cursor === undefined ? undefined : placeOf(cursor);
            const page: Page = JSON.parse(
              String(await pageOf(index, { filter, order, limit, ...(after && { after }) }, unhurried)),
            );
            expect(page.limit).to.equal(limit);
            expect(page.entries.length).to.be.at.most(limit);
            found.push(...idsOf(page));
            expect(page.hasMore).to.equal(found.length < expected.length);
            expect(page.nextCursor !== undefined).to.equal(page.hasMore);
            [cursor, more] = [page.nextCursor, page.hasMore];
          }
          expect(found).to.deep.equal(expected);
        },
      ),
    ));

  it('count every record that passes, under each of its keys, the largest first', () =>
    fc.assert(
      fc.asyncProperty(index, fc.oneof(filter, hourly), grouping, async (index, filter, grouping) => {
        const counts = new Map<string, number>();
        const found = passing(index, filter, 'asc');
        for (const key of found.flatMap((each) => keysOf(grouping, each)))
          counts.set(key, (counts.get(key) ?? 0) + 1);
        const buckets = [...counts]
          .map(([key, count]) => ({ key, count }))
          .sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
        const room = { left: 1e6 };
        const answer = await aggregate(index, { filter, grouping, pace: unhurried, room }, 100);
        expect(answer).to.deep.equal({ buckets, total: found.length });
        expect(room.left).to.equal(1e6);
      }),
    ));

  const hours = Array.from({ length: 24 }, (_, hour) => ({
    producerId: 'api',
    audit: false,
    records: [{ timestamp: NOON - hour * HOUR_MS, level: 'INFO', event: 'started' }],
  }));

  it('are counted without opening a block where kept counts suffice', async () => {
    const index = memoryIndex(hours);
    const room = { left: 1e6 };
    const count = async (filter: Partial<Filter>, grouping: Grouping = { by: 'level' }) => {
      const before = index.opened();
      const { total } = await aggregate(
        index,
        { filter: { ...EVERYTHING, ...filter }, grouping, pace: unhurried, room },
        10,
      );
      return [total, index.opened() - before];
    };
    expect(await count({ levels: ['INFO'] })).to.deep.equal([24, 0]);
    expect(await count({ producerId: 'api', audit: false, levels: ['INFO', 'WARN'] })).to.deep.equal([24, 0]);
    expect(await count({}, { by: 'time', intervalMs: HOUR_MS })).to.deep.equal([24, 0]);
    expect(await count({ from: NOON, to: NOON + HOUR_MS - 1, levels: ['INFO'] })).to.deep.equal([1, 0]);
    // A part of an hour has to be looked at.
    expect((await count({ from: NOON - HOUR_MS + 1, levels: ['INFO'] }))[1]).to.be.greaterThan(0);
    expect((await count({}, { by: 'time', intervalMs: 60_000 }))[1]).to.be.greaterThan(0);
  });

  it('open no more blocks than they must', async () => {
    const index = memoryIndex(hours);
    for await (const hit of search(index, asked(EVERYTHING, 'desc'), 1)) expect(hit.instant).to.equal(NOON);
    expect(index.opened()).to.equal(1);
    for await (const hit of search(index, asked(EVERYTHING, 'asc'), 1))
      expect(hit.instant).to.equal(NOON - 23 * HOUR_MS);
    expect(index.opened()).to.equal(2);
  });

  it('look into twice as many blocks each time for what is rare, and at few where they are large', async () => {
    let reading = 0;
    let most = 0;
    const slow = (index: MemoryIndex, size: number): MemoryIndex => ({
      ...index,
      async *blocks(...given) {
        for await (const ref of index.blocks(...given))
          yield {
            ...ref,
            size,
            async read(look) {
              most = Math.max(most, ++reading);
              await new Promise(setImmediate);
              return ref.read(look).finally(() => reading--);
            },
          };
      },
    });
    const many = memoryIndex(Array.from({ length: 3 }, () => hours).flat());
    const rare = { ...EVERYTHING, event: 'never' };
    for await (const _ of search(slow(many, 10), asked(rare, 'desc'), 5)) expect.fail();
    expect(many.opened()).to.equal(72);
    expect(most).to.equal(16);
    most = 0;
    for await (const _ of search(slow(many, 3 * 1024 * 1024), asked(rare, 'desc'), 5)) expect.fail();
    expect(most).to.equal(2);
  });

  it('are pages of fewer records where these are large, but of one at least', async () => {
    const index = memoryIndex(hours.slice(0, 5));
    const large: MemoryIndex = {
      ...index,
      async *blocks(...given) {
        for await (const ref of index.blocks(...given))
          yield {
            ...ref,
            read: (look) =>
              ref.read((block) =>
                look({
                  ...block,
                  entry: (at) => `{"id":"${block.id(at)}","data":"${'x'.repeat(1_500_000)}"}`,
                }),
              ),
          };
      },
    };
    const page: Page = JSON.parse(
      String(await pageOf(large, { filter: EVERYTHING, order: 'desc', limit: 5 }, unhurried)),
    );
    expect(page.entries.length).to.equal(2);
    expect(page.hasMore).to.equal(true);
  });

  it('leave out what has expired since it was found', async () => {
    const index = memoryIndex(hours.slice(0, 3));
    let nth = 0;
    const expiring: MemoryIndex = {
      ...index,
      async *blocks(...given) {
        for await (const ref of index.blocks(...given)) {
          let looks = 0;
          const gone = nth++ === 1;
          yield { ...ref, read: async (look) => (gone && looks++ > 0 ? undefined : ref.read(look)) };
        }
      },
    };
    const page: Page = JSON.parse(
      String(await pageOf(expiring, { filter: EVERYTHING, order: 'desc', limit: 3 }, unhurried)),
    );
    const [first, , third] = passing(index, EVERYTHING, 'desc').map(({ id }) => id);
    expect(idsOf(page)).to.deep.equal([first, third]);
  });
});
