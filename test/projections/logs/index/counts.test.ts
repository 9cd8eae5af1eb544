/** Counts of the record index, from columns or from records, equal a naive count. */
import { expect } from 'chai';
import fc from 'fast-check';
import { aggregate, type Grouping } from '../../../../application/logs/query/aggregate.js';
import { yieldOnly } from '../../../../application/logs/query/query-budget.js';
import type { BlockRef } from '../../../../application/logs/record-index.js';
import { EVERYTHING, type Filter, matches } from '../../../../domain/logs/filter.js';
import { filter, NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import {
  grouping,
  type IndexFixture,
  keysOf,
  leisurely,
  many,
  requests,
  startIndexFixture,
} from '../../../support/record-index.js';

describe('the counts of log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  it('equal a naive count over a naive filter', async () => {
    const pairs = fc.array(fc.tuple(filter, grouping), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(requests, pairs, async (all, queries) => {
        const events = await fixture.ingested(all);
        const truth = await fixture.placedRecords(events);
        const name = await fixture.build(events);
        for (const [some, by] of queries) {
          const counts = new Map<string, number>();
          const passed = truth.filter((each) => matches(some, each));
          for (const each of passed) for (const key of keysOf(by, each)) counts.set(key, (counts.get(key) ?? 0) + 1);
          const { buckets, total } = await aggregate(
            fixture.indexOf(name),
            { filter: some, grouping: by, ...leisurely },
            1000,
          );
          expect(total).to.equal(passed.length);
          expect(new Map(buckets.map(({ key, count }) => [key, count]))).to.deep.equal(counts);
          const order = buckets.toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
          expect(buckets).to.deep.equal(order);
        }
        await fixture.kernel.builds.drop(name);
      }),
      { numRuns: 6 },
    );
  });

  it('from columns of full blocks equal those from records', async () => {
    const pairs = fc.array(fc.tuple(filter, grouping), { minLength: 8, maxLength: 8 });
    // One day without audit records, so that a request becomes one block.
    const full = many.map((some) =>
      Array.from({ length: Math.ceil(1200 / some.length) }, () => some)
        .flat()
        .map((data, n) => ({ ...data, timestamp: NOON - (n % 500) * 1000, audit: false })),
    );
    await fc.assert(
      fc.asyncProperty(full, pairs, async (some, queries) => {
        const events = await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10);
        const truth = await fixture.placedRecords(events);
        const name = await fixture.build(events);
        expect(await fixture.sectionsOf(name).countDocuments()).to.equal(3);
        for (const [some, by] of queries) {
          const passed = truth.filter((each) => matches(some, each));
          expect(await foundIn(fixture.indexOf(name), some, 'desc')).to.deep.equal(passed.toReversed());
          const counts = new Map<string, number>();
          for (const key of passed.flatMap((each) => keysOf(by, each))) counts.set(key, (counts.get(key) ?? 0) + 1);
          const query = { filter: some, grouping: by, ...leisurely };
          const { buckets, total } = await aggregate(fixture.indexOf(name), query, 5000);
          expect(total).to.equal(passed.length);
          expect(new Map(buckets.map(({ key, count }) => [key, count]))).to.deep.equal(counts);
        }
        await fixture.kernel.builds.drop(name);
      }),
      { numRuns: 3 },
    );
  });

  it('read only the needed sections of a full block', async () => {
    const some = Array.from({ length: 900 }, (_, n) => ({
      timestamp: NOON + n,
      n,
      status: n % 3,
      event: 'e',
      message: `word${n} ${'x'.repeat(200)}`,
    }));
    const name = await fixture.build(
      await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10),
    );
    const sections = fixture.sectionsOf(name);
    const rows = await sections.find().toArray();
    const without = async (kind: string) => {
      const removed = rows.filter(({ _id }) => _id.endsWith(`.${kind}`));
      expect(removed).not.to.deep.equal([]);
      await sections.deleteMany({ _id: { $in: removed.map(({ _id }) => _id) } });
    };
    const count = async (filter: Partial<Filter>, by: Grouping) => {
      const query = { filter: { fields: [], words: [], ...filter }, grouping: by, ...leisurely };
      return (await aggregate(fixture.indexOf(name), query, 10)).buckets.map(({ key, count }) => `${key} ${count}`);
    };
    const byStatus = { by: 'field', path: 'status' } as const;
    const words = { words: ['word7'] };
    expect(await foundIn(fixture.indexOf(name), { fields: [], ...words }, 'asc')).to.have.length(1);
    // Too long for a column, so the records are read.
    const seventh = { path: 'message', value: some[7]!.message };
    expect(await count({ fields: [seventh] }, byStatus)).to.deep.equal(['1 1']);
    expect(await count({ ...words }, { by: 'field', path: 'message' })).to.deep.equal([`${seventh.value} 1`]);
    await without('records');
    expect(await count({}, byStatus)).to.deep.equal(['0 300', '1 300', '2 300']);
    const events = { fields: [{ path: 'event', value: 'e' }] };
    expect(await count(events, { by: 'field', path: 'event' })).to.deep.equal(['e 900']);
    const one = { fields: [{ path: 'status', value: '1' }], from: NOON + 10, to: NOON + 99 };
    expect(await count(one, byStatus)).to.deep.equal(['1 30']);
    expect(await count({ levels: ['INFO'], event: 'e', from: NOON + 890 }, { by: 'event' })).to.deep.equal(['e 10']);
    // A query that needs the records finds none.
    expect(await count(words, byStatus)).to.deep.equal([]);
    await without('columns');
    expect(await count({}, byStatus)).to.deep.equal([]);
    await fixture.kernel.builds.drop(name);
  });

  it('are accounted with the memory of fields that a block lacks', async () => {
    const some = Array.from({ length: 900 }, (_, n) => ({ timestamp: NOON + n, n }));
    const name = await fixture.build(
      await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10),
    );
    const index = fixture.indexOf(name);
    const bytes = () => index.caches.find((cache) => cache.name === 'logs.sections')!.bytes();
    const count = (path: string) =>
      aggregate(index, { filter: EVERYTHING, grouping: { by: 'field', path }, ...leisurely }, 10);
    await count('none');
    const before = bytes();
    for (let path = 0; path < 20; path++) await count(`none${path}`);
    // Two bytes for each record and path at least.
    expect(bytes() - before).to.be.above(20 * 2 * 900);
    await fixture.kernel.builds.drop(name);
  });

  it('keep at most the budgeted bytes open, even if records turn out to be needed late', async () => {
    const some = Array.from({ length: 520 }, (_, n) => ({
      timestamp: NOON,
      message: `${n} ${'x'.repeat(1900)}`,
    }));
    const requests = Array.from({ length: 20 }, () => ({
      producerId: 'api',
      receivedAt: NOON,
      records: some,
    }));
    const name = await fixture.build(await fixture.ingested(requests, 10));
    const refs: BlockRef[] = [];
    for await (const ref of fixture.indexOf(name).blocks(EVERYTHING, 'desc', yieldOnly)) refs.push(ref);
    expect(refs).to.have.length(20);
    /** As long as reading all blocks one after the other, so that any other admitted read has started by then. */
    const others = () => foundIn(fixture.indexOf(name), { ...EVERYTHING, words: ['519'] }, 'desc');
    const room = 24 * 1024 * 1024;
    let [open, maxOpen] = [0, 0];
    let full = () => {};
    const isFull = new Promise<void>((resolve) => {
      full = resolve;
    });
    const read = async (ref: BlockRef) =>
      ref.read(
        async () => {
          open += 2 * ref.size;
          maxOpen = Math.max(maxOpen, open);
          if (open + 2 * ref.size > room) others().then(full, full);
          await isFull;
          open -= 2 * ref.size;
        },
        { columns: [{ by: 'field', path: 'message' }] },
      );
    await Promise.all(refs.map(read));
    expect(maxOpen).to.be.within(room / 2, room);
    await fixture.kernel.builds.drop(name);
  });
});
