/** The record index against the naive truth, however batches are cut; long, because all of it needs one store and its log. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { aggregate, type Grouping } from '../../../application/logs/aggregate.js';
import { unhurried } from '../../../application/logs/pace.js';
import type { RecordIndex } from '../../../application/logs/record-index.js';
import type { RecordedEvent } from '../../../application/ports.js';
import { createKernel, type Kernel } from '../../../bin/node/kernel.js';
import { type BatchSecret, batchesOf, textsOf } from '../../../domain/logs/batch.js';
import { catalog } from '../../../domain/logs/catalog.js';
import { type Filter, matches } from '../../../domain/logs/filter.js';
import { DAY_MS, HOUR_MS } from '../../../domain/logs/instant.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import { keepingSubject } from '../../../domain/logs/keeping.js';
import { comparePlaces, idOf } from '../../../domain/logs/place.js';
import { type PlacedRecord, readRecord } from '../../../domain/logs/record.js';
import { createRecordIndex } from '../../../projections/logs/reader.js';
import { records } from '../../../projections/logs/records.js';
import { filter, NOON, record } from '../../domain/logs/arbitrary.js';
import { quiet, type Servers, startServers } from '../../support/engines.js';
import { grouping, keysOf } from '../../support/groupings.js';
import { foundIn, recordText } from '../../support/logs.js';

interface Request {
  readonly producerId: string;
  readonly receivedAt: number;
  readonly records: readonly JsonObject[];
}

const few = fc.array(record, { minLength: 1, maxLength: 6 });
/** Long enough to make blocks of their own, or to fill one that gathers. */
const many = fc
  .tuple(few, fc.integer({ min: 80, max: 130 }))
  .map(([some, times]) => Array(times).fill(some).flat());

/** Of more hours than are counted, some of them full, and some far from the receipt. */
const scattered = few.map((some) =>
  Array.from({ length: 320 }, (_, n) => [
    { ...some[n % some.length], timestamp: NOON - n * (n % 8 ? 1 : 200) * HOUR_MS },
    ...(n % 40 ? [] : some),
  ]).flat(),
);

const requests: fc.Arbitrary<readonly Request[]> = fc.array(
  fc.record({
    producerId: fc.constantFrom('api', 'web'),
    receivedAt: fc.constantFrom(NOON, NOON + 5, NOON + 86_400_000),
    records: fc.oneof(
      { weight: 6, arbitrary: few },
      { weight: 1, arbitrary: many },
      { weight: 1, arbitrary: scattered },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

const held = { assertHeld() {} };

const leisurely = { pace: unhurried, budget: { left: Number.POSITIVE_INFINITY } };

describe('the index of log records', function () {
  this.timeout(120_000);
  let servers: Servers;
  let kernel: Kernel;
  let position = 100n;

  before(async () => {
    servers = await startServers();
    kernel = await createKernel({
      eventStoreUrl: servers.eventStoreUrl,
      mongoUrl: servers.mongoUrl,
      mongoDatabase: `test_${randomUUID().slice(0, 8)}`,
      node: 'test',
      release: 'test',
      catalogs: [catalog],
      projections: [records],
      logger: quiet,
    });
  });
  after(async () => {
    await kernel?.close();
    await servers?.stop();
  });

  /** `bytes`: as large as records are counted, so that batches have fewer or more of them. */
  async function ingested(all: readonly Request[], bytes = 2000): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (const request of all) {
      const given = request.records.map((data) => ({ ...recordText(data), bytes }));
      for (const { data } of batchesOf({ ...request, records: given, rejected: 0 })) {
        await kernel.vault.create(keepingSubject(data));
        events.push(
          recorded({ ...data, secret: await kernel.vault.seal(keepingSubject(data), data.secret) }),
        );
      }
    }
    return events;
  }

  function recorded(data: object, type = 'RecordsIngested'): RecordedEvent {
    position += 17n;
    const common = { id: randomUUID(), stream: 'logs.batch-x', revision: 0, version: 1, recordedAt: NOON };
    return { ...common, position, type, data: { ...data }, metadata: {} };
  }

  async function placedRecords(events: readonly RecordedEvent[]): Promise<PlacedRecord[]> {
    const all: PlacedRecord[] = [];
    for (const { data, position } of events) {
      const { producerId, receivedAt, secret } = data as {
        producerId: string;
        receivedAt: number;
        secret: string;
      };
      const opened = await kernel.vault.open(keepingSubject(data as never), secret);
      for (const [place, each] of textsOf(opened as BatchSecret).entries())
        all.push({ ...readRecord(each, producerId, receivedAt), id: idOf(position, place) });
    }
    return all.sort(comparePlaces);
  }

  async function build(...batches: readonly (readonly RecordedEvent[])[]) {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    // The leader changes now and then: what it remembers goes with it.
    let apply = await kernel.builds.open(records, name, held);
    for (const [index, events] of batches.entries()) {
      if (index % 3 === 2) apply = await kernel.builds.open(records, name, held);
      await apply(events);
    }
    return name;
  }

  const rowsOf = async (name: string) => {
    const rows = [];
    for await (const row of kernel.builds.scan(records, name)) rows.push(row);
    return rows;
  };

  const sectionsIn = (name: string) =>
    kernel.mongo.models.collection<{ _id: string }>(`${name}.d20261121.sections`);

  const indexOf = (name: string): RecordIndex =>
    createRecordIndex({
      db: kernel.mongo.models,
      vault: kernel.vault,
      build: () => name,
      version: () => position,
    });

  it('is the same however its events are cut into batches and redelivered', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.array(fc.nat(11), { maxLength: 6 }), async (all, cuts) => {
        const events = await ingested(all);
        const once = await build(events);
        const batches = cuts.map((cut) => events.slice(Math.max(0, cut - 3), cut + 2));
        const redelivered = await build(...inOrder(events, batches), events);
        expect(await rowsOf(redelivered)).to.deep.equal(await rowsOf(once));
        await Promise.all([kernel.builds.drop(once), kernel.builds.drop(redelivered)]);
      }),
      { numRuns: 6 },
    );
  });

  it('finds exactly what a naive filter finds, in order, both ways', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.array(filter, { minLength: 8, maxLength: 8 }), async (all, filters) => {
        const events = await ingested(all);
        const truth = await placedRecords(events);
        const name = await build(...events.map((event) => [event]));
        const index = indexOf(name);
        for (const some of [...filters, { fields: [], words: [] }]) {
          const expected = truth.filter((each) => matches(some, each));
          expect(await foundIn(index, some, 'asc')).to.deep.equal(expected);
          expect(await foundIn(index, some, 'desc')).to.deep.equal(expected.toReversed());
        }
        await kernel.builds.drop(name);
      }),
      { numRuns: 6 },
    );
  });

  it('counts exactly what a naive filter counts', async () => {
    const pairs = fc.array(fc.tuple(filter, grouping), { minLength: 8, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(requests, pairs, async (all, asked) => {
        const events = await ingested(all);
        const truth = await placedRecords(events);
        const name = await build(events);
        for (const [some, by] of asked) {
          const counts = new Map<string, number>();
          const passed = truth.filter((each) => matches(some, each));
          for (const each of passed)
            for (const key of keysOf(by, each)) counts.set(key, (counts.get(key) ?? 0) + 1);
          const { buckets, total } = await aggregate(
            indexOf(name),
            { filter: some, grouping: by, ...leisurely },
            1000,
          );
          expect(total).to.equal(passed.length);
          expect(new Map(buckets.map(({ key, count }) => [key, count]))).to.deep.equal(counts);
          const order = buckets.toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
          expect(buckets).to.deep.equal(order);
        }
        await kernel.builds.drop(name);
      }),
      { numRuns: 6 },
    );
  });

  it('tells by columns alone what a look at every record of a full block tells', async () => {
    const pairs = fc.array(fc.tuple(filter, grouping), { minLength: 8, maxLength: 8 });
    // Of one day and no audit records: all of a request make one block.
    const full = many.map((some) =>
      Array.from({ length: Math.ceil(1200 / some.length) }, () => some)
        .flat()
        .map((data, n) => ({ ...data, timestamp: NOON - (n % 500) * 1000, audit: false })),
    );
    await fc.assert(
      fc.asyncProperty(full, pairs, async (some, asked) => {
        const events = await ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10);
        const truth = await placedRecords(events);
        const name = await build(events);
        expect(await sectionsIn(name).countDocuments()).to.equal(3);
        for (const [some, by] of asked) {
          const passed = truth.filter((each) => matches(some, each));
          expect(await foundIn(indexOf(name), some, 'desc')).to.deep.equal(passed.toReversed());
          const counts = new Map<string, number>();
          for (const key of passed.flatMap((each) => keysOf(by, each)))
            counts.set(key, (counts.get(key) ?? 0) + 1);
          const asking = { filter: some, grouping: by, ...leisurely };
          const { buckets, total } = await aggregate(indexOf(name), asking, 5000);
          expect(total).to.equal(passed.length);
          expect(new Map(buckets.map(({ key, count }) => [key, count]))).to.deep.equal(counts);
        }
        await kernel.builds.drop(name);
      }),
      { numRuns: 3 },
    );
  });

  it('opens of a full block only what is asked for', async () => {
    const some = Array.from({ length: 900 }, (_, n) => ({
      timestamp: NOON + n,
      n,
      status: n % 3,
      event: 'e',
      message: `word${n} ${'x'.repeat(200)}`,
    }));
    const name = await build(await ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10));
    const sections = sectionsIn(name);
    const rows = await sections.find().toArray();
    const without = async (kind: string) => {
      const gone = rows.filter(({ _id }) => _id.endsWith(`.${kind}`));
      expect(gone).not.to.deep.equal([]);
      await sections.deleteMany({ _id: { $in: gone.map(({ _id }) => _id) } });
    };
    const count = async (filter: Partial<Filter>, by: Grouping) => {
      const asking = { filter: { fields: [], words: [], ...filter }, grouping: by, ...leisurely };
      return (await aggregate(indexOf(name), asking, 10)).buckets.map(({ key, count }) => `${key} ${count}`);
    };
    const byStatus = { by: 'field', path: 'status' } as const;
    const words = { words: ['word7'] };
    expect(await foundIn(indexOf(name), { fields: [], ...words }, 'asc')).to.have.length(1);
    // Too long for columns: the records tell.
    const seventh = { path: 'message', value: some[7]!.message };
    expect(await count({ fields: [seventh] }, byStatus)).to.deep.equal(['1 1']);
    expect(await count({ ...words }, { by: 'field', path: 'message' })).to.deep.equal([`${seventh.value} 1`]);
    await without('records');
    expect(await count({}, byStatus)).to.deep.equal(['0 300', '1 300', '2 300']);
    const one = { fields: [{ path: 'status', value: '1' }], from: NOON + 10, to: NOON + 99 };
    expect(await count(one, byStatus)).to.deep.equal(['1 30']);
    expect(await count({ levels: ['INFO'], event: 'e', from: NOON + 890 }, { by: 'event' })).to.deep.equal([
      'e 10',
    ]);
    // Who needs the records sees that they are gone.
    expect(await count(words, byStatus)).to.deep.equal([]);
    await without('terms');
    expect(await count({}, byStatus)).to.deep.equal(['0 300', '1 300', '2 300']);
    expect(await count(one, byStatus)).to.deep.equal([]);
    await kernel.builds.drop(name);
  });

  it('gathers a long trickle of records into few blocks, and loses none of them on the way', async () => {
    const trickle = Array.from({ length: 260 }, (_, n) => ({
      producerId: 'api',
      receivedAt: NOON,
      records: Array.from({ length: 1 + (n % 11) }, (_, m) => ({ n, m, correlationId: `c${n}` })),
    }));
    const events = await ingested(trickle);
    const name = await build(...events.map((event) => [event]));
    const truth = await placedRecords(events);
    const everything = { fields: [], words: [] };
    expect(await foundIn(indexOf(name), everything, 'asc')).to.deep.equal(truth);
    for (const correlationId of ['c3', 'c150', 'c259']) {
      const some = { ...everything, correlationId };
      expect(await foundIn(indexOf(name), some, 'asc')).to.deep.equal(
        truth.filter((each) => matches(some, each)),
      );
    }
    expect(await kernel.mongo.models.collection(`${name}.d20261121`).countDocuments()).to.equal(2);
    const once = await build(events);
    expect(await rowsOf(once)).to.deep.equal(await rowsOf(name));
  });

  it('loses what has expired, by instant and by receipt, and nothing else', async () => {
    const cutoffs = fc.tuple(fc.constantFrom(-1, 0, 1, 2), fc.constantFrom(-1, 0, 1, 2));
    await fc.assert(
      fc.asyncProperty(requests, requests, cutoffs, async (old, later, [days, auditDays]) => {
        const midnight = NOON - 43_200_000;
        const [before, auditBefore] = [midnight + days * 86_400_000, midnight + auditDays * 86_400_000];
        const first = await ingested(old);
        const expired = recorded({ before, auditBefore }, 'RecordsExpired');
        const rest = await ingested(later);
        const received = new Map(
          first.map(({ position: at, data }) => [idOf(at, 0).slice(0, 13), data.receivedAt]),
        );
        const kept = (await placedRecords(first)).filter(({ id, instant, audit }) => {
          const least = audit ? auditBefore : before;
          return instant >= least && Number(received.get(id.slice(0, 13))) >= least;
        });
        const name = await build(first, [expired], rest);
        const expected = [...kept, ...(await placedRecords(rest))].sort(comparePlaces);
        const everything = { fields: [], words: [] };
        expect(await foundIn(indexOf(name), everything, 'asc')).to.deep.equal(expected);
        const { total } = await aggregate(
          indexOf(name),
          { filter: everything, grouping: { by: 'level' }, ...leisurely },
          10,
        );
        expect(total).to.equal(expected.length);
        const again = await build([...first, expired, ...rest]);
        expect(await rowsOf(again)).to.deep.equal(await rowsOf(name));
        await Promise.all([kernel.builds.drop(name), kernel.builds.drop(again)]);
      }),
      { numRuns: 4 },
    );
  });

  it('loses with a block what it is made of, and with a day all of it', async () => {
    const ofTomorrow = Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON + DAY_MS + n, n }));
    const received = async (receivedAt: number) =>
      ingested([{ producerId: 'api', receivedAt, records: ofTomorrow }], 10);
    const [early, late] = [await received(NOON), await received(NOON + DAY_MS)];
    const midnight = NOON - (NOON % DAY_MS);
    const before = (days: number) =>
      recorded({ before: midnight + days * DAY_MS, auditBefore: 0 }, 'RecordsExpired');
    const [receipt, day] = [before(1), before(2)];
    const collectionsOf = async (name: string) => {
      const all = await kernel.mongo.models.listCollections().toArray();
      return all.map((each) => each.name).filter((each) => each.startsWith(`${name}.d`));
    };
    const name = await build(early, late);
    const sections = kernel.mongo.models.collection<{ _id: string }>(`${name}.d20261122.sections`);
    const blocks = async () => [
      ...new Set((await sections.find().toArray()).map(({ _id }) => _id.split('.')[0])),
    ];
    expect(await blocks()).to.have.length(2);
    const apply = await kernel.builds.open(records, name, held);
    await apply([receipt]);
    const [left] = await kernel.mongo.models.collection(`${name}.d20261122`).find().toArray();
    expect(await blocks()).to.deep.equal([String(left?._id)]);
    expect(await collectionsOf(name)).to.have.length(2);
    await apply([day]);
    expect(await collectionsOf(name)).to.deep.equal([]);
    await kernel.builds.drop(name);
  });

  it('shows no block before what it is made of is there', async () => {
    const some = Array.from({ length: 600 }, (_, n) => ({ timestamp: NOON, n }));
    const events = await ingested([{ producerId: 'api', receivedAt: NOON, records: some }], 10);
    const name = `logs_records_v${records.version}_order`;
    const written: string[] = [];
    const apply = await records.open({
      vault: kernel.vault,
      collection: (part) => kernel.mongo.models.collection(`${name}.${part}`),
      async write(part) {
        written.push(`${part} begun`);
        await new Promise(setImmediate);
        written.push(`${part} done`);
      },
      parts: async () => [],
      drop: async () => {},
    });
    await apply(events);
    expect(written.indexOf('d20261121.sections done')).to.be.within(0, written.indexOf('d20261121 begun'));
  });

  it('lets scattered records go one by one, and gathers on where they were', async () => {
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
    const first = await ingested([request(days.slice(0, 40)), request(days.slice(40))]);
    const midnight = NOON - (NOON % DAY_MS);
    const expired = recorded({ before: midnight - 50 * DAY_MS, auditBefore: 0 }, 'RecordsExpired');
    const late = await ingested([request([{ timestamp: NOON - 70 * DAY_MS, n: 200 }])]);
    const name = await build(first, [expired], late);
    const found = async (correlationId?: string) => {
      const asked = { fields: [], words: [], ...(correlationId && { correlationId }) };
      return (await foundIn(indexOf(name), asked, 'asc')).map(({ data }) => data.n);
    };
    expect(await found()).to.deep.equal([200, ...Array.from({ length: 51 }, (_, n) => 50 - n)]);
    expect(await found('r50')).to.deep.equal([50]);
    expect(await found('r51')).to.deep.equal([]);
    const again = await build([...first, expired], first, late);
    expect(await rowsOf(again)).to.deep.equal(await rowsOf(name));
  });
});

/** Pieces of the log as a projector may get them: each begins at or before where the one before ended. */
function inOrder(events: readonly RecordedEvent[], batches: readonly (readonly RecordedEvent[])[]) {
  let end = 0;
  return batches.flatMap((batch) => {
    const start = batch[0] ? events.indexOf(batch[0]) : Number.POSITIVE_INFINITY;
    if (start > end) return [];
    end = Math.max(end, start + batch.length);
    return [batch];
  });
}
