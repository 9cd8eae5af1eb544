/** Large records, and many distinct values, in the record index: rows stay within the document limit. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type AnyBulkWriteOperation, Binary } from 'mongodb';
import { aggregate, type Grouping } from '../../../../application/logs/query/aggregate.js';
import { yieldOnly } from '../../../../application/logs/query/query-budget.js';
import type { RecordIndex } from '../../../../application/logs/record-index.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Kernel } from '../../../../bin/node/kernel.js';
import { createBatches } from '../../../../domain/logs/batch.js';
import { catalog } from '../../../../domain/logs/catalog.js';
import { EVERYTHING, type Filter } from '../../../../domain/logs/filter.js';
import type { JsonObject } from '../../../../domain/logs/json.js';
import { bucketSubject } from '../../../../domain/logs/retention-bucket.js';
import { HOUR_MS } from '../../../../domain/logs/timestamp.js';
import type { Build, Row } from '../../../../projections/kernel/projection.js';
import { createRecordIndex } from '../../../../projections/logs/index/reader.js';
import { records } from '../../../../projections/logs/index/records.js';
import type { BlockRow } from '../../../../projections/logs/index/rows.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn, recordText } from '../../../support/log-node.js';
import { type OwnKernel, startKernel } from '../../../support/test-kernel.js';

const MOST_ROW_BYTES = 4 * 1024 * 1024;

describe('the index of large records', function () {
  this.timeout(120_000);
  let own: OwnKernel;
  let kernel: Kernel;
  let position = 100n;

  before(async () => {
    own = await startKernel([catalog], [records]);
    kernel = own.kernel;
  });
  after(() => own?.stop());

  async function events(all: readonly JsonObject[]): Promise<RecordedEvent[]> {
    const given = all.map(recordText);
    const batches = createBatches({ producerId: 'api', receivedAt: NOON, records: given, rejected: 0 });
    return Promise.all(
      batches.map(async ({ data }) => {
        const subject = bucketSubject(data);
        await kernel.vault.create(subject);
        position += 17n;
        const sealed = { ...data, secret: await kernel.vault.seal(subject, data.secret) };
        const common = {
          id: randomUUID(),
          stream: 'logs.batch-x',
          revision: 0,
          version: 1,
          recordedAt: NOON,
        };
        return { ...common, position, type: 'RecordsIngested', data: { ...sealed }, metadata: {} };
      }),
    );
  }

  async function build(...requests: readonly (readonly JsonObject[])[]): Promise<string> {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const apply = await kernel.builds.open(records, name, { assertHeld() {} });
    for (const request of requests) await apply(await events(request));
    return name;
  }

  const indexOf = (name: string): RecordIndex =>
    createRecordIndex({
      db: kernel.mongo.models,
      vault: kernel.vault,
      build: () => name,
      version: () => position,
    });

  const counted = (name: string, grouping: Grouping, filter: Partial<Filter> = {}) => {
    const budget = { remaining: Number.POSITIVE_INFINITY };
    return aggregate(
      indexOf(name),
      { filter: { ...EVERYTHING, ...filter }, grouping, checkpoint: yieldOnly, budget },
      2000,
    );
  };

  const rowsIn = async (name: string, part: string) =>
    kernel.mongo.models.collection(`${name}.${part}`, { raw: true }).find().toArray() as unknown as Buffer[];

  /** Incompressible text. */
  const noise = (length: number) => {
    let text = '';
    while (text.length < length) text += randomUUID();
    return text.slice(0, length);
  };

  it('splits large requests into blocks of bounded size', async () => {
    const requests = Array.from({ length: 40 }, (_, n) =>
      Array.from({ length: 8 }, (_, m) => ({ n: n * 8 + m, message: noise(60_000), timestamp: NOON })),
    );
    const name = await build(...requests);
    const rows = await rowsIn(name, 'blocks');
    expect(rows.length).to.be.greaterThan(4);
    expect(Math.max(...rows.map(({ length }) => length))).to.be.lessThan(MOST_ROW_BYTES);
    const found = await foundIn(indexOf(name), EVERYTHING, 'asc');
    expect(found.map(({ data }) => data.n)).to.deep.equal(requests.flat().map(({ n }) => n));
  });

  it('combines small requests into blocks of bounded size', async () => {
    const requests = Array.from({ length: 60 }, (_, n) =>
      Array.from({ length: 5 }, (_, m) => ({ n: n * 5 + m, message: noise(40_000), timestamp: NOON })),
    );
    const name = await build(...requests);
    const rows = await rowsIn(name, 'blocks');
    expect(rows.length).to.be.within(6, 20);
    expect(Math.max(...rows.map(({ length }) => length))).to.be.lessThan(MOST_ROW_BYTES);
    const found = await foundIn(indexOf(name), EVERYTHING, 'asc');
    expect(found.map(({ data }) => data.n)).to.deep.equal(requests.flat().map(({ n }) => n));
  });

  it('can be queried when its open blocks exceed the sort limit of the store', async () => {
    const name = await build([{ note: 'one' }]);
    const rows = kernel.mongo.models.collection<BlockRow>(`${name}.blocks`);
    const one = (await rows.findOne({}))!;
    const content = new Binary(Buffer.alloc(MOST_ROW_BYTES));
    for (let n = 0; n < 26; n++) {
      const [from, to] = [NOON + n * 1000, NOON + n * 1000 + 999];
      await rows.insertOne({
        ...one,
        _id: `gathering${n}`,
        subject: `of ${n}`,
        from,
        to,
        records: [content],
      });
    }
    for (const order of ['asc', 'desc'] as const) {
      const found: number[] = [];
      for await (const { from } of indexOf(name).blocks(EVERYTHING, order, yieldOnly)) found.push(from);
      expect(found).to.have.length(27);
      const sorted = found.toSorted((a, b) => a - b);
      expect(found).to.deep.equal(order === 'asc' ? sorted : sorted.toReversed());
    }
    await kernel.builds.drop(name);
  });

  it('splits the records of one large event, and finds all of them', async () => {
    const some = Array.from({ length: 60 }, (_, n) => ({ n, message: noise(50_000), timestamp: NOON }));
    // An event with records that were underestimated in size.
    const given = some.map((data) => ({ ...recordText(data), bytes: 1 }));
    const [batch] = createBatches({ producerId: 'api', receivedAt: NOON, records: given, rejected: 0 });
    const [event] = await events([{ n: 0 }]);
    const subject = bucketSubject(batch!.data);
    const data = { ...event!.data, secret: await kernel.vault.seal(subject, batch!.data.secret) };
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const apply = await kernel.builds.open(records, name, { assertHeld() {} });
    await apply([{ ...event!, data }]);
    await apply([{ ...event!, data }]);
    const rows = await rowsIn(name, 'blocks');
    expect(rows.length).to.be.greaterThan(1);
    expect(Math.max(...rows.map(({ length }) => length))).to.be.lessThan(MOST_ROW_BYTES);
    for (const order of ['asc', 'desc'] as const) {
      const numbers = (await foundIn(indexOf(name), EVERYTHING, order)).map((each) => each.data.n);
      expect(order === 'asc' ? numbers : numbers.toReversed()).to.deep.equal(some.map(({ n }) => n));
    }
  });

  it('counts thousands of distinct, long levels exactly, in small rows', async () => {
    const some = Array.from({ length: 1500 }, (_, n) => ({
      level: n % 3 === 0 ? 'error' : `level ${n} ${'x'.repeat(200)}`,
      event: `event ${n}`,
      timestamp: NOON,
    }));
    const name = await build(some, some, some);
    const rows = await rowsIn(name, 'hours');
    expect(Math.max(...rows.map(({ length }) => length))).to.be.lessThan(64 * 1024);
    const { buckets, total } = await counted(name, { by: 'level' });
    expect(total).to.equal(4500);
    expect(buckets[0]).to.deep.equal({ key: 'ERROR', count: 1500 });
    expect(buckets).to.have.length(1001);
    expect(buckets.slice(1).every(({ count }) => count === 3)).to.equal(true);
    const one = some[1]!.level.toUpperCase();
    expect((await counted(name, { by: 'level' }, { levels: [one] })).buckets).to.deep.equal([{ key: one, count: 3 }]);
    expect((await counted(name, { by: 'time', intervalMs: 3_600_000 }, { levels: ['ERROR', one] })).total).to.equal(
      1503,
    );
    expect((await counted(name, { by: 'time', intervalMs: 3_600_000 })).total).to.equal(4500);
    expect((await counted(name, { by: 'event' }, { event: 'event 7' })).buckets).to.deep.equal([
      { key: 'event 7', count: 3 },
    ]);
  });

  it('counts common levels from hourly rows only, even with many other levels', async () => {
    const some = Array.from({ length: 900 }, (_, n) => ({
      level: n % 3 ? `l${n}` : 'fatal',
      timestamp: NOON,
    }));
    const name = await build(some);
    await kernel.mongo.models.dropCollection(`${name}.blocks`);
    const { total } = await counted(name, { by: 'level' }, { levels: ['ERROR', 'FATAL'] });
    expect(total).to.equal(300);
  });

  it('has few rows for records of very many hours, and counts them exactly', async () => {
    const near = Array.from({ length: 2000 }, (_, n) => ({ timestamp: NOON - n * HOUR_MS, level: 'warn' }));
    const far = Array.from({ length: 2000 }, (_, n) => ({
      timestamp: NOON - n * 9 * HOUR_MS,
      event: `e${n % 3}`,
    }));
    const full = Array.from({ length: 500 }, (_, n) => ({
      timestamp: NOON - 900 * HOUR_MS,
      event: `e${n % 3}`,
    }));
    const all = [...near, ...far, ...full];
    const name = await build(all);
    expect((await rowsIn(name, 'hours')).length).to.be.lessThan(300);
    expect((await rowsIn(name, 'blocks')).length).to.be.lessThan(100);
    const naive = (
      from: number,
      to: number,
      keyOf: (one: { timestamp: number; level?: string; event?: string }) => string,
    ) => {
      const counts = new Map<string, number>();
      for (const one of all)
        if (one.timestamp >= from && one.timestamp <= to) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
      return counts;
    };
    const DAY = 24 * HOUR_MS;
    for (const [from, to] of [
      [undefined, undefined],
      [NOON - 900 * HOUR_MS, NOON - HOUR_MS],
      [NOON - 1000.5 * HOUR_MS, NOON - 3.5 * HOUR_MS],
    ]) {
      const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
      const within = [from ?? 0, to ?? NOON] as const;
      const countedBy = async (grouping: Grouping) =>
        new Map((await counted(name, grouping, range)).buckets.map(({ key, count }) => [key, count]));
      expect(await countedBy({ by: 'level' })).to.deep.equal(
        naive(...within, ({ level = 'info' }) => level.toUpperCase()),
      );
      expect(await countedBy({ by: 'event' })).to.deep.equal(naive(...within, ({ event = '(missing)' }) => event));
      expect(await countedBy({ by: 'time', intervalMs: DAY })).to.deep.equal(
        naive(...within, ({ timestamp }) => new Date(timestamp - (timestamp % DAY)).toISOString()),
      );
    }
    expect((await counted(name, { by: 'producer' })).total).to.equal(all.length);
  });

  it('knows the receipt time of records in hours without counts', async () => {
    const name = await build([{ timestamp: 0 }]);
    expect(await rowsIn(name, 'hours')).to.deep.equal([]);
    expect(await indexOf(name).lastReceived()).to.equal(NOON);
    expect(await indexOf(await build()).lastReceived()).to.equal(undefined);
  });

  it('limits concurrent writes and batches lookups for a request with records of many days', async () => {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    const range = { hours: 0, parts: 0, mostParts: 0 };
    const { models } = kernel.mongo;
    await models.createCollection(name);
    const collection: Build['collection'] = (part) => {
      if (part === 'hours') range.hours++;
      return models.collection(`${name}.${part}`) as never;
    };
    const apply = await records.open({
      vault: kernel.vault,
      collection,
      parts: async () => [],
      drop: async () => {},
      async write(part, writes) {
        range.mostParts = Math.max(range.mostParts, ++range.parts);
        await models.collection<Row>(`${name}.${part}`).bulkWrite(writes as AnyBulkWriteOperation<Row>[]);
        range.parts--;
      },
    });
    const hours = Array.from({ length: 40 * 24 }, (_, n) => NOON - n * HOUR_MS);
    await apply(await events(hours.map((timestamp) => ({ timestamp }))));
    expect(range.hours).to.be.lessThan(10);
    expect(range.mostParts).to.be.lessThan(20);
    expect((await counted(name, { by: 'level' })).total).to.equal(hours.length);
  });
});
