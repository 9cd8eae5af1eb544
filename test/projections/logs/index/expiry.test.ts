/** Expiry in the record index: what is deleted and what remains. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Collection, Long } from 'mongodb';
import { aggregate } from '../../../../application/logs/query/aggregate.js';
import type { JsonObject } from '../../../../domain/logs/json.js';
import { compareRecords, recordId } from '../../../../domain/logs/record-id.js';
import { bucketSubject } from '../../../../domain/logs/retention-bucket.js';
import { DAY_MS } from '../../../../domain/logs/timestamp.js';
import type { RowWrite } from '../../../../projections/kernel/index.js';
import { createExpiry } from '../../../../projections/logs/index/expiry.js';
import { markErasedRequests } from '../../../../projections/logs/index/ingest-receipts.js';
import { records } from '../../../../projections/logs/index/records.js';
import type { BlockRow, RequestRow } from '../../../../projections/logs/index/rows.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import { held, type IndexFixture, leisurely, requests, startIndexFixture } from '../../../support/record-index.js';

describe('the expiry of log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  it('removes expired records by instant and by receipt, and nothing else', async () => {
    const cutoffs = fc.tuple(fc.constantFrom(-1, 0, 1, 2), fc.constantFrom(-1, 0, 1, 2));
    await fc.assert(
      fc.asyncProperty(requests, requests, cutoffs, async (old, later, [days, auditDays]) => {
        const midnight = NOON - 43_200_000;
        const [before, auditBefore] = [midnight + days * 86_400_000, midnight + auditDays * 86_400_000];
        const first = await fixture.ingested(old);
        const expired = fixture.recorded({ before, auditBefore }, 'RecordsExpired');
        const rest = await fixture.ingested(later);
        const received = new Map(
          first.map(({ position: at, data }) => [recordId(at, 0).slice(0, 13), data.receivedAt]),
        );
        const remaining = (await fixture.placedRecords(first)).filter(({ id, instant, audit }) => {
          const least = audit ? auditBefore : before;
          return instant >= least && Number(received.get(id.slice(0, 13))) >= least;
        });
        const name = await fixture.build(first, [expired], rest);
        const expected = [...remaining, ...(await fixture.placedRecords(rest))].sort(compareRecords);
        const everything = { fields: [], words: [] };
        expect(await foundIn(fixture.indexOf(name), everything, 'asc')).to.deep.equal(expected);
        const { total } = await aggregate(
          fixture.indexOf(name),
          { filter: everything, grouping: { by: 'level' }, ...leisurely },
          10,
        );
        expect(total).to.equal(expected.length);
        const again = await fixture.build([...first, expired, ...rest]);
        expect(await fixture.rowsOf(again)).to.deep.equal(await fixture.rowsOf(name));
        await Promise.all([fixture.kernel.builds.drop(name), fixture.kernel.builds.drop(again)]);
      }),
      { numRuns: 4 },
    );
  });

  it('hides blocks at once, and deletes their rows in the background, also after a failure', async () => {
    const ofTomorrow = Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON + DAY_MS + n, n }));
    const received = async (receivedAt: number) =>
      fixture.ingested([{ producerId: 'api', receivedAt, records: ofTomorrow }], 10);
    const [earlier, later] = [await received(NOON), await received(NOON + DAY_MS)];
    const midnight = NOON - (NOON % DAY_MS);
    const before = (days: number) =>
      fixture.recorded({ before: midnight + days * DAY_MS, auditBefore: 0 }, 'RecordsExpired');
    const [receipt, day] = [before(1), before(2)];
    const name = await fixture.build(earlier, later);
    const rowsIn = async () => {
      const [blocks, sections] = [fixture.blocksOf(name), fixture.sectionsOf(name)];
      return [await blocks.countDocuments(), await sections.countDocuments()];
    };
    const found = async () => (await foundIn(fixture.indexOf(name), { fields: [], words: [] }, 'asc')).length;
    const scanned = async () => (await fixture.rowsOf(name)).filter(({ _id }) => _id.startsWith('blocks/')).length;
    expect([...(await rowsIn()), await found()]).to.deep.equal([2, 6, 1200]);

    let apply = await fixture.kernel.builds.open(records, name, held);
    await apply([receipt]);
    expect([await found(), await scanned()]).to.deep.equal([600, 1]);
    await eventually(async () => (await rowsIn()).join() === '1,3');
    // A leader that fails after the retention's own writes: it deletes no block.
    let writes = 7;
    apply = await fixture.kernel.builds.open(records, name, {
      assertHeld() {
        if (writes-- === 0) throw new Error('the lease is lost');
      },
    });
    await apply([day]);
    expect([await found(), await scanned()]).to.deep.equal([0, 0]);
    await eventually(() => writes < 0);
    expect(await rowsIn()).to.deep.equal([1, 3]);
    await fixture.kernel.builds.open(records, name, held);
    await eventually(async () => (await rowsIn()).join() === '0,0');
    await fixture.kernel.builds.drop(name);
  });

  it('removes scattered records individually, and continues to fill their block', async () => {
    const days = Array.from({ length: 80 }, (_, n) => ({
      timestamp: NOON - n * DAY_MS,
      n,
      requestId: `r${n}`,
    }));
    const request = (some: readonly JsonObject[]) => ({
      producerId: 'api',
      receivedAt: NOON + 60 * DAY_MS,
      records: some,
    });
    const first = await fixture.ingested([request(days.slice(0, 40)), request(days.slice(40))]);
    const midnight = NOON - (NOON % DAY_MS);
    const expired = fixture.recorded({ before: midnight - 50 * DAY_MS, auditBefore: 0 }, 'RecordsExpired');
    const added = await fixture.ingested([request([{ timestamp: NOON - 70 * DAY_MS, n: 200 }])]);
    const name = await fixture.build(first, [expired], added);
    const found = async (correlationId?: string) => {
      const query = { fields: [], words: [], ...(correlationId && { correlationId }) };
      return (await foundIn(fixture.indexOf(name), query, 'asc')).map(({ data }) => data.n);
    };
    expect(await found()).to.deep.equal([200, ...Array.from({ length: 51 }, (_, n) => 50 - n)]);
    expect(await found('r50')).to.deep.equal([50]);
    expect(await found('r51')).to.deep.equal([]);
    const again = await fixture.build([...first, expired], first, added);
    expect(await fixture.rowsOf(again)).to.deep.equal(await fixture.rowsOf(name));
  });

  it('removes scattered audit records by their own cutoff', async () => {
    const days = Array.from({ length: 80 }, (_, n) => ({ timestamp: NOON - n * DAY_MS, n }));
    const received = { producerId: 'api', receivedAt: NOON + 60 * DAY_MS };
    const records = [days, days.map((each) => ({ ...each, audit: true }))];
    const events = await fixture.ingested(records.map((some) => ({ ...received, records: some })));
    const midnight = NOON - (NOON % DAY_MS);
    for (const [retentionDays, auditDays] of [
      [50, 70],
      [70, 50],
    ] as const) {
      const [before, auditBefore] = [midnight - retentionDays * DAY_MS, midnight - auditDays * DAY_MS];
      const name = await fixture.build(events, [fixture.recorded({ before, auditBefore }, 'RecordsExpired')]);
      const remaining = async (audit: boolean) =>
        (await foundIn(fixture.indexOf(name), { fields: [], words: [], audit }, 'desc')).length;
      expect([await remaining(false), await remaining(true)]).to.deep.equal([retentionDays + 1, auditDays + 1]);
    }
  });

  it('marks the request streams of a day in chunks, each once', async () => {
    const bucket = { producerId: 'api', day: '20261121', audit: false };
    const rows = fixture.kernel.mongo.models.collection<RequestRow>('requests_of_a_day');
    const row = (n: number, subject: string) => ({
      _id: `${subject}-${n}`,
      _at: Long.fromNumber(n),
      subject,
    });
    const subject = bucketSubject(bucket);
    await rows.insertMany(Array.from({ length: 2500 }, (_, n) => row(n, subject)));
    await rows.insertMany([row(5_000_000, subject), row(1, 'of-another-day')]);
    const { rows: watched, counts: marked } = countingCalls(rows, 'updateMany', 'matchedCount');
    const build = { collection: () => watched } as never;
    const erased = { ...fixture.recorded(bucket, 'BatchesErased'), position: 1_000_000n };
    await markErasedRequests(build, [erased] as never);
    expect(marked).to.deep.equal([1000, 1000, 500]);
    expect(await rows.countDocuments({ erasedAt: new Date(erased.recordedAt) })).to.equal(2500);
    await markErasedRequests(build, [erased] as never);
    expect(marked, 'when repeated').to.have.length(3);
  });

  it('queries request streams once per batch of erasures, and marks none written after its own erasure', async () => {
    const { kernel } = fixture;
    const rows = kernel.mongo.models.collection<RequestRow>('requests_of_many');
    const buckets = Array.from({ length: 300 }, (_, n) => ({
      producerId: `p${n}`,
      day: '20261121',
      audit: false,
    }));
    const ended = buckets.map((data, n) => ({
      ...fixture.recorded(data, 'BatchesErased'),
      position: BigInt(1000 + n),
      recordedAt: NOON + (n % 2),
    }));
    const request = (n: number, at: number) => ({
      _id: `${n} at ${at}`,
      _at: Long.fromNumber(at),
      subject: bucketSubject(buckets[n]!),
    });
    await rows.insertMany([0, 7, 299].flatMap((n) => [request(n, 1), request(n, 1000 + n + 1)]));
    let queries = 0;
    const collection = (part: string) => {
      if (part !== 'requests') return kernel.mongo.models.collection(`of_many.${part}`);
      return new Proxy(rows, {
        get(target, name) {
          if (name === 'find') queries++;
          return Reflect.get(target, name).bind(target);
        },
      });
    };
    const build = {
      vault: kernel.vault,
      collection,
      parts: async () => [],
      async write() {},
      async drop() {},
    };
    await (await records.open(build as never))(ended as never);
    expect(queries).to.equal(1);
    const marked = await rows.find({ erasedAt: { $exists: true } }).toArray();
    expect(marked.map(({ _id, erasedAt }) => [_id, erasedAt?.getTime()])).to.have.deep.members([
      ['0 at 1', NOON],
      ['7 at 1', NOON + 1],
      ['299 at 1', NOON + 1],
    ]);
  });

  it('deletes blocks in small chunks, since each may have a thousand index entries', async () => {
    const rows = fixture.kernel.mongo.models.collection<BlockRow>('blocks_of_all_days');
    const block = (n: number, due: string) =>
      ({ _id: `b${n}`, _at: Long.fromNumber(n), audit: false, due, count: 1500 }) as BlockRow;
    await rows.insertMany(Array.from({ length: 8 }, (_, n) => block(n, '20261120')));
    await rows.insertMany([
      block(5_000_000, '20261120'),
      block(8, '20261121'),
      { ...block(9, '20261120'), audit: true },
    ]);
    const deleted: number[] = [];
    const others: (readonly string[])[] = [];
    const build = {
      collection: (part: string) =>
        part === 'blocks' ? rows : fixture.kernel.mongo.models.collection(`of_none.${part}`),
      async write(part: string, writes: readonly RowWrite[]) {
        const isDone = part === 'blocks' || part === 'expiry';
        const done = isDone && (await build.collection(part).bulkWrite(writes as never));
        if (done && part === 'blocks') deleted.push(done.deletedCount);
        others.push([part, ...writes.flatMap(Object.keys)]);
      },
    };
    const expired = {
      ...fixture.recorded({ before: NOON - (NOON % DAY_MS), auditBefore: 0 }, 'RecordsExpired'),
      position: 1_000_000n,
    };
    const expiry = await createExpiry(build as never);
    await expiry.expire(expired as never);
    const hours = ['hours', 'deletePieces', 'deletePieces'];
    const buckets = ['buckets', 'deletePieces'];
    expect(others).to.deep.equal([['expiry', 'updateOne'], hours, buckets, hours, buckets]);
    expiry.sweep();
    await eventually(() => deleted.length === 3);
    expect(deleted).to.deep.equal([3, 3, 2]);
    const remaining = (await rows.find().toArray()).map(({ _id }) => _id);
    expect(remaining.sort()).to.deep.equal(['b5000000', 'b8', 'b9']);
  });
});

/** Wraps a collection and records the count returned by each call of one kind. */
function countingCalls<Row extends object>(rows: Collection<Row>, call: 'updateMany', count: 'matchedCount') {
  const counts: number[] = [];
  const watched = new Proxy(rows, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== call) return member.bind(target);
      return async (...args: readonly unknown[]) => {
        const done = await member.apply(target, args);
        counts.push(done[count]);
        return done;
      };
    },
  });
  return { rows: watched, counts };
}
