/** The record index equals a naive scan, for any batching and block layout. */
import { expect } from 'chai';
import fc from 'fast-check';
import { BSON } from 'mongodb';
import { yieldOnly } from '../../../../application/logs/query/query-budget.js';
import { forEachMatch } from '../../../../application/logs/query/search-blocks.js';
import type { BlockRef } from '../../../../application/logs/record-index.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { EVERYTHING, type Filter, matches } from '../../../../domain/logs/filter.js';
import type { IdentifiedRecord } from '../../../../domain/logs/record.js';
import { DAY_MS } from '../../../../domain/logs/timestamp.js';
import { records } from '../../../../projections/logs/index/records.js';
import { BLOCK_INDEXES, type BucketRow } from '../../../../projections/logs/index/rows.js';
import { filter, NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import { held, type IndexFixture, requests, startIndexFixture } from '../../../support/record-index.js';

describe('the index of log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  it('is the same under any batching and redelivery', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.array(fc.nat(11), { maxLength: 6 }), async (all, cuts) => {
        const events = await fixture.ingested(all);
        const once = await fixture.build(events);
        const batches = cuts.map((cut) => events.slice(Math.max(0, cut - 3), cut + 2));
        const redelivered = await fixture.build(...inOrder(events, batches), events);
        expect(await fixture.rowsOf(redelivered)).to.deep.equal(await fixture.rowsOf(once));
        await Promise.all([fixture.kernel.builds.drop(once), fixture.kernel.builds.drop(redelivered)]);
      }),
      { numRuns: 6 },
    );
  });

  it('marks each row with the event that last changed it', async () => {
    const trickle = Array.from({ length: 12 }, (_, n) => ({
      producerId: n % 3 === 0 ? 'web' : 'api',
      receivedAt: NOON + n,
      records: Array.from({ length: 1 + (n % 4) }, () => ({ n, timestamp: NOON - n * 5 * 3_600_000 })),
    }));
    const name = `logs_records_v${records.version}_moving`;
    const apply = await fixture.kernel.builds.open(records, name, held);
    let before = new Set<string>();
    for (const event of await fixture.ingested(trickle)) {
      await apply([event]);
      const rows = (await fixture.rowsOf(name)).map((row) => ({ row, text: BSON.EJSON.stringify(row) }));
      for (const { row, text } of rows)
        if (!before.has(text)) expect(row._at.toBigInt(), row._id).to.equal(event.position);
      before = new Set(rows.map(({ text }) => text));
    }
    await fixture.kernel.builds.drop(name);
  });

  it('finds what a naive filter finds, in both orders', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.array(filter, { minLength: 8, maxLength: 8 }), async (all, filters) => {
        const events = await fixture.ingested(all);
        const truth = await fixture.placedRecords(events);
        const name = await fixture.build(...events.map((event) => [event]));
        const index = fixture.indexOf(name);
        for (const some of [...filters, { fields: [], words: [] }]) {
          const expected = truth.filter((each) => matches(some, each));
          expect(await foundIn(index, some, 'asc')).to.deep.equal(expected);
          expect(await foundIn(index, some, 'desc')).to.deep.equal(expected.toReversed());
        }
        await fixture.kernel.builds.drop(name);
      }),
      { numRuns: 6 },
    );
  });

  it('combines a long sequence of small requests into few blocks, without losing records', async () => {
    const trickle = Array.from({ length: 260 }, (_, n) => ({
      producerId: 'api',
      receivedAt: NOON,
      records: Array.from({ length: 1 + (n % 11) }, (_, m) => ({ n, m, correlationId: `c${n}` })),
    }));
    const events = await fixture.ingested(trickle);
    const name = await fixture.build(...events.map((event) => [event]));
    const truth = await fixture.placedRecords(events);
    const everything = { fields: [], words: [] };
    expect(await foundIn(fixture.indexOf(name), everything, 'asc')).to.deep.equal(truth);
    for (const correlationId of ['c3', 'c150', 'c259']) {
      const some = { ...everything, correlationId };
      expect(await foundIn(fixture.indexOf(name), some, 'asc')).to.deep.equal(
        truth.filter((each) => matches(some, each)),
      );
    }
    expect(await fixture.blocksOf(name).countDocuments()).to.equal(2);
    const once = await fixture.build(events);
    expect(await fixture.rowsOf(once)).to.deep.equal(await fixture.rowsOf(name));
  });

  it('equals another build whose buckets have their parts in another order', async () => {
    const ofTwoDays = [{ timestamp: NOON }, { timestamp: NOON - DAY_MS }];
    const request = { producerId: 'api', receivedAt: NOON, records: ofTwoDays };
    const name = await fixture.build(await fixture.ingested([request]));
    const rows = await fixture.rowsOf(name);
    const buckets = fixture.kernel.mongo.models.collection<BucketRow>(`${name}.buckets`);
    const [{ _id, parts = [] }] = (await buckets.find().toArray()) as [BucketRow];
    expect(parts).to.have.length(2);
    await buckets.updateOne({ _id }, { $set: { parts: parts.toReversed() } });
    expect(await fixture.rowsOf(name)).to.deep.equal(rows);
  });

  it('returns full and open blocks merged in order, using its indexes', async () => {
    // Newest first, so that the order is not accidental.
    const own = (hour: number) =>
      Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON + hour * 3_600_000 + n, n }));
    const all = [5, 3, 1, 4, 2].flatMap((hour) => [
      { producerId: 'api', receivedAt: NOON, records: own(hour) },
      { producerId: `web-${hour}`, receivedAt: NOON, records: own(hour + 0.5).slice(0, 50) },
    ]);
    const name = await fixture.build(await fixture.ingested(all, 10));
    for (const order of ['asc', 'desc'] as const) {
      const bounds: number[] = [];
      for await (const { from, to } of fixture.indexOf(name).blocks(EVERYTHING, order, yieldOnly))
        bounds.push(order === 'asc' ? from : to);
      expect(bounds).to.have.length(10);
      const inOrder = bounds.toSorted((a, b) => (order === 'asc' ? a - b : b - a));
      expect(bounds, order).to.deep.equal(inOrder);
    }
    const indexes = await fixture.blocksOf(name).indexes();
    const expectedIndexes = BLOCK_INDEXES.map((each) => each.name);
    expect(indexes.map((each) => each.name)).to.include.members(expectedIndexes);
  });

  it('finds the records of full blocks in any range of times', async () => {
    const spread = (day: number, audit: boolean) =>
      Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON + day * DAY_MS + (n - 299) * 143_000, n, audit }));
    const days = [-100, -1, 0, 1].flatMap((day) => [spread(day, false), spread(day, true)]);
    const events = await fixture.ingested(
      days.map((all) => ({ producerId: 'api', receivedAt: NOON, records: all })),
      10,
    );
    const name = await fixture.build(events);
    const kinds = (await fixture.blocksOf(name).find().toArray()).map(({ kind }) => kind);
    expect(new Set(kinds)).to.have.all.keys('audit', 'day', 'scattered');
    const truth = await fixture.placedRecords(events);
    for (const day of [-100, 0])
      for (const hour of [-11, 11]) {
        const instant = NOON + day * DAY_MS + hour * 3_600_000;
        const ranges = [{ from: instant }, { to: instant }, { from: instant, to: instant + 3_600_000 }];
        for (const filter of [...ranges, { from: instant, to: instant + DAY_MS, audit: true }]) {
          const all = { ...EVERYTHING, ...filter };
          const expected = truth.filter((each) => matches(all, each));
          expect(await foundIn(fixture.indexOf(name), all, 'asc')).to.deep.equal(expected);
          expect(await foundIn(fixture.indexOf(name), all, 'desc')).to.deep.equal(expected.toReversed());
        }
      }
    await fixture.kernel.builds.drop(name);
  });

  it('returns an open block as of the start of the query, even if it fills up meanwhile', async () => {
    const name = `logs_records_v${records.version}_filling`;
    const apply = await fixture.kernel.builds.open(records, name, held);
    const own = Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON + 60_000, n, note: 'own three' }));
    const [first] = await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: own }], 10);
    const trickle = Array.from({ length: 12 }, (_, n) => ({
      producerId: 'api',
      receivedAt: NOON,
      // Later events have later timestamps.
      records: Array.from({ length: 100 }, (_, m) => ({ timestamp: NOON + n, n, m, note: `w${n} three` })),
    }));
    const events = [first!, ...(await fixture.ingested(trickle))];
    const known = events.slice(0, 7);
    await apply(known);
    const truth = await fixture.placedRecords(known);
    const filters: readonly Filter[] = [
      EVERYTHING,
      { ...EVERYTHING, words: ['three'] },
      { ...EVERYTHING, fields: [{ path: 'm', value: '7' }] },
    ];
    const iterators: AsyncIterator<BlockRef>[] = filters.map((filter) =>
      fixture.indexOf(name).blocks(filter, 'desc', yieldOnly)[Symbol.asyncIterator](),
    );
    const blocks: BlockRef[][] = await Promise.all(iterators.map(async (some) => [(await some.next()).value]));
    await apply(events);
    for (const [nth, some] of iterators.entries()) {
      for await (const ref of { [Symbol.asyncIterator]: () => some }) blocks[nth]!.push(ref);
      const found: IdentifiedRecord[] = [];
      for (const ref of blocks[nth]!) {
        const search = { filter: filters[nth]!, order: 'desc', checkpoint: yieldOnly } as const;
        await ref.read((block) =>
          forEachMatch(block, search, (at) => {
            found.push(block.record(at));
            return true;
          }),
        );
      }
      expect(found).to.deep.equal(truth.filter((each) => matches(filters[nth]!, each)).toReversed());
    }
    expect(await foundIn(fixture.indexOf(name), EVERYTHING, 'asc')).to.have.length(600 + 1200);
    await fixture.kernel.builds.drop(name);
  });

  it('writes a block after its sections', async () => {
    const some = Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON, n }));
    const events = await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10);
    const name = `logs_records_v${records.version}_order`;
    const written: string[] = [];
    const apply = await records.open({
      vault: fixture.kernel.vault,
      collection: (part) => fixture.kernel.mongo.models.collection(`${name}.${part}`),
      async write(part) {
        written.push(`${part} begun`);
        await new Promise(setImmediate);
        written.push(`${part} done`);
      },
      parts: async () => [],
      drop: async () => {},
    });
    await apply(events);
    expect(written.indexOf('sections done')).to.be.within(0, written.indexOf('blocks begun'));
  });
});

/** Batches as a projector may receive them: each starts at or before the end of the previous one. */
function inOrder(events: readonly RecordedEvent[], batches: readonly (readonly RecordedEvent[])[]) {
  let end = 0;
  return batches.flatMap((batch) => {
    const start = batch[0] ? events.indexOf(batch[0]) : Number.POSITIVE_INFINITY;
    if (start > end) return [];
    end = Math.max(end, start + batch.length);
    return [batch];
  });
}
