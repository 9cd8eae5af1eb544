/** A batch coalesced into one write per row has the effect of the single writes. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { createBuilds } from '../../../../adapters/mongo/rows/row-store.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Kernel } from '../../../../bin/node/kernel.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import {
  type Projection,
  type Row,
  type RowChange,
  type RowUpdate,
  type RowWrite,
  writesOf,
} from '../../../../projections/kernel/projection.js';
import { type OwnKernel, startKernel } from '../../../support/test-kernel.js';

const changing: Projection<DomainEvent> = {
  name: 'toys.changing',
  version: 1,
  indexes: [{ key: { group: 1 } }],
  on: { Changed: ({ data }) => data.changes as RowChange[] },
};

/** Deleted in chunks by one call. */
const atOnce = (write: RowWrite) => ('deletePieces' in write ? { deleteMany: write.deletePieces } : write);

const eventOf = (changes: readonly RowChange[], index: number): RecordedEvent => ({
  id: randomUUID(),
  stream: 'toys.changing-x',
  revision: index,
  version: 1,
  recordedAt: 1_800_000_000_000 + index,
  position: BigInt(index + 1) * 100n,
  type: 'Changed',
  data: { changes },
  metadata: {},
});

const rowId = fc.constantFrom('a', 'b', 'c');
const group = fc.constantFrom('g', 'h', 'i');
/** One or several values. */
const kind = fc.oneof(group, fc.uniqueArray(group, { minLength: 1 }));
const whole = fc.integer({ min: -3, max: 5 });
const item = fc.record({ k: whole });
const operation = (path: string, operator: string, value: fc.Arbitrary<unknown>) =>
  value.map((each) => ({ path, operator, value: each }));
const huge = fc.constantFrom(2_000_000_000, -2_000_000_000);

const ofGroups = [
  operation('group', '$set', group),
  operation('group', '$setOnInsert', group),
  operation('group', '$unset', fc.constant('')),
  operation('kind', '$set', kind),
];
const ofOthers = [
  operation('x', '$set', fc.oneof(whole, fc.constant(undefined))),
  operation('x', '$unset', fc.constant('')),
  operation('x', '$setOnInsert', whole),
  operation('n', '$inc', fc.oneof(whole, fc.constant(0.1), huge)),
  operation('n', '$setOnInsert', whole),
  operation('n', '$max', whole),
  operation('o.p', '$set', whole),
  operation('o.p', '$unset', fc.constant('')),
  operation('o', '$set', fc.record({ q: whole })),
  operation('list', '$set', fc.array(item, { maxLength: 2 })),
  operation('list', '$unset', fc.constant('')),
  operation('list', '$push', item),
  operation('list', '$push', fc.record({ $each: fc.array(item, { minLength: 1, maxLength: 2 }) })),
  operation('list', '$pull', fc.record({ k: fc.record({ $lte: whole }) })),
  operation('list', '$pull', fc.record({ k: whole })),
  operation('list', '$addToSet', item),
];

/** Some changes on distinct paths, which fit each other. */
const some = (operations: (typeof ofOthers)[number][]): fc.Arbitrary<RowUpdate> =>
  fc
    .uniqueArray(fc.oneof(...operations), {
      minLength: 1,
      maxLength: 3,
      selector: ({ path }) => path.slice(0, 1),
    })
    .map((chosen) => {
      const made: { [operator: string]: { [path: string]: unknown } } = {};
      for (const { path, operator, value } of chosen) {
        made[operator] ??= {};
        made[operator][path] = value;
      }
      return made;
    });
const update = some([...ofGroups, ...ofOthers]);
/** Members that purges match by: redelivery creates a row without later changes. */
const making = fc
  .record({ update: some(ofOthers), group, kind })
  .map(({ update, ...groups }) => ({ ...update, $set: { ...update.$set, ...groups } }));

const change: fc.Arbitrary<RowChange> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ put: rowId, update: making }) },
  { weight: 9, arbitrary: fc.record({ patch: rowId, update }) },
  { weight: 1, arbitrary: fc.record({ remove: rowId }) },
  { weight: 1, arbitrary: fc.record({ replace: rowId, row: fc.record({ group, kind, x: whole }) }) },
  { weight: 1, arbitrary: fc.record({ purge: fc.record({ _id: rowId }) }) },
  // Several values and fields within a batch; those of no row are dropped.
  ...[fc.record({ group }), fc.record({ kind: group }), fc.record({ group, kind: group })].flatMap((purge) => [
    { weight: 1, arbitrary: fc.record({ purge }) },
    { weight: 1, arbitrary: fc.record({ purge, many: fc.constant(true as const) }) },
  ]),
);
function touched(each: RowChange): string {
  if ('purge' in each) return '';
  if ('make' in each) return each.make;
  if ('remove' in each) return each.remove;
  if ('replace' in each) return each.replace;
  return 'put' in each ? each.put : each.patch;
}
const history = fc.array(fc.uniqueArray(change, { selector: touched, minLength: 1, maxLength: 2 }), {
  minLength: 1,
  maxLength: 40,
});
/** Marks the first write of a new row as such where possible. */
function born(changes: RowChange[][]): RowChange[][] {
  const there = new Set<string>();
  return changes.map((some) =>
    some.map((each) => {
      if ('purge' in each || 'patch' in each || there.has(touched(each))) return each;
      there.add(touched(each));
      const row = 'put' in each ? (each.update.$set ?? {}) : undefined;
      return row && !Object.keys(row).some((path) => path.includes('.')) ? { make: touched(each), row } : each;
    }),
  );
}
/** A batch starts before the checkpoint, ends after it, and may fail after this many writes. */
const batches = fc.array(
  fc.record({
    again: fc.nat(8),
    more: fc.nat(20),
    cut: fc.option(fc.nat(6)),
  }),
  { maxLength: 6 },
);

class Cut extends Error {}

/** The same database, whose bulk writes fail after this many writes. */
function breaking(db: Db, cut: { after: number | null }): Db {
  const collection = (name: string) => {
    const real = db.collection<Row>(name);
    const bulkWrite = async (writes: AnyBulkWriteOperation<Row>[]) => {
      if (cut.after === null) return real.bulkWrite(writes);
      const some = writes.slice(0, cut.after);
      cut.after -= some.length;
      if (some.length > 0) await real.bulkWrite(some);
      if (some.length < writes.length) throw new Cut();
      return real.bulkWrite(writes);
    };
    return new Proxy(real, {
      get: (target, name) => {
        if (name === 'bulkWrite') return bulkWrite;
        const value = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  };
  return { collection } as unknown as Db;
}

describe('coalesced writes of a batch', function () {
  this.timeout(240_000);
  let own: OwnKernel;
  let kernel: Kernel;

  before(async () => {
    own = await startKernel();
    kernel = own.kernel;
  });
  after(() => own?.stop());

  const lease = { assertHeld: () => {} };
  const newRows = () => kernel.mongo.models.collection<Row>(`changing_${randomUUID().slice(0, 8)}`);
  const all = (rows: Collection<Row>) => rows.find().sort({ _id: 1 }).toArray();

  it('equal single writes under redelivery and failures at any point', async () => {
    const law = async (
      changes: RowChange[][],
      deliveries: typeof batches extends fc.Arbitrary<infer T> ? T : never,
    ) => {
      const events = born(changes).map(eventOf);
      const [single, merged] = [newRows(), newRows()];
      for (const event of events)
        for (const write of writesOf(changing, event)) await single.bulkWrite([atOnce(write)]);
      const cut: { after: number | null } = { after: null };
      const builds = createBuilds(breaking(kernel.mongo.models, cut), kernel.vault);
      const apply = await builds.open(changing, merged.collectionName, lease);
      let done = 0;
      for (const { again, more, cut: after } of deliveries) {
        const to = Math.min(done + more, events.length);
        const from = Math.max(done - again, 0);
        cut.after = after;
        try {
          await apply(events.slice(from, to));
          done = to;
        } catch (error) {
          if (!(error instanceof Cut)) throw error;
          // The next attempt starts here or earlier.
          done = from;
        }
      }
      cut.after = null;
      await apply(events.slice(done));
      expect(await all(merged)).to.deep.equal(await all(single));
      await Promise.all([single.drop(), merged.drop()].map((each) => each.catch(() => {})));
    };
    await fc.assert(fc.asyncProperty(history, batches, law), { numRuns: Number(process.env.RUNS ?? 60) });
  });

  it('create rows in one message, whatever is purged in between', async () => {
    const sent: string[][] = [];
    const collection = (name: string) => {
      const real = kernel.mongo.models.collection<Row>(name);
      const bulkWrite = (writes: AnyBulkWriteOperation<Row>[]) => {
        sent.push(writes.flatMap((write) => Object.keys(write)));
        return real.bulkWrite(writes);
      };
      return new Proxy(real, {
        get: (target, name) => (name === 'bulkWrite' ? bulkWrite : Reflect.get(target, name).bind(target)),
      });
    };
    const rows = newRows();
    const builds = createBuilds({ collection } as unknown as Db, kernel.vault);
    const apply = await builds.open({ ...changing, indexes: [] }, rows.collectionName, lease);
    const group = 'g';
    const changes: RowChange[] = [
      { make: 'a', row: { group } },
      { put: 'b', update: { $set: { group } } },
      { purge: { group } },
      { make: 'c', row: { group } },
      { put: 'd', update: { $set: { group: 'h' } } },
      { purge: { group: 'h' } },
      { make: 'e', row: { group: 'h' } },
    ];
    await apply(changes.map((change, index) => eventOf([change], index)));
    expect(sent).to.deep.equal([
      ['insertOne', 'insertOne', 'insertOne', 'updateOne', 'deleteMany', 'updateOne', 'deleteMany'],
    ]);
    expect((await all(rows)).map(({ _id }) => _id)).to.deep.equal(['c', 'e']);
    await rows.drop();
  });

  const pushing = { $push: { list: 1 } };
  const counting = { $inc: { n: 1 }, ...pushing };
  for (const change of [
    { put: 'a', update: counting },
    { patch: 'a', update: counting },
    { put: 'a', update: pushing },
    { patch: 'a', update: pushing },
  ])
    it(`of a row that has some of them already (${JSON.stringify(change)}) add the others once`, async () => {
      const rows = newRows();
      const apply = await kernel.builds.open(changing, rows.collectionName, lease);
      const made = [{ put: 'a', update: { $set: { n: 0 } } }];
      const events = [made, [change], [change], [change], [change]].map(eventOf);
      await apply(events.slice(0, 3));
      await apply(events.slice(1));
      const n = '$inc' in change.update ? 4 : 0;
      expect(await rows.findOne({ _id: 'a' })).to.deep.include({ n, list: [1, 1, 1, 1] });
      await rows.drop();
    });
});
