/** Tests that the cost of a large command grows linearly with its size, because it blocks the event loop. */
import { expect } from 'chai';
import { isReal } from '../../support/mongo.js';
import { fixture } from '../../support/mongo-fixture.js';
import { processorMs } from '../../support/process-usage.js';

describe('MongoDB: large commands', () => {
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  const rows = () => mongo.collection();
  const list = <Item>(length: number, make: (n: number) => Item) => Array.from({ length }, (_, n) => make(n));
  const fields = (length: number) => Object.fromEntries(list(length, (n) => [`f${n}`, 1]));

  const FEW = 15_000;
  const MANY = 4 * FEW;
  /** Maximum cost ratio; quadratic cost would be 16. */
  const LINEAR = 9;

  for (const [what, run] of [
    ['$set', (n: number) => rows().updateOne({ key: 1 }, { $set: fields(n) }, { upsert: true })],
    ['$unset', (n: number) => rows().updateOne(fields(n), { $unset: fields(n) }, { upsert: true })],
    ['upsert', (n: number) => rows().updateOne(fields(n), { $set: { a: 1 } }, { upsert: true })],
    ['$and', (n: number) => rows().findOne({ $and: list(n, (i) => ({ a: { $gt: i } })) })],
  ] as const)
    it(`processes a large ${what} in linear time`, async () => {
      const cost = async (n: number) => {
        const before = processorMs(mongo.server.pid!);
        await run(n);
        return processorMs(mongo.server.pid!) - before;
      };
      await cost(FEW);
      const few = Math.max(await cost(FEW), 20);
      expect(await cost(MANY)).lessThan(few * LINEAR);
    });

  it('skips missing ids', async () => {
    const one = mongo.db.collection<{ _id: number }>('ids');
    await one.insertMany([{ _id: -5 }, { _id: 50_000 }]);
    const cost = async (run: () => Promise<unknown>) => {
      const before = processorMs(mongo.server.pid!);
      await run();
      return processorMs(mongo.server.pid!) - before;
    };
    const ids = list(100_000, (n) => n - 10);
    const shuffled = ids.map((id) => (id * 7_919) % 100_003);
    let found: { _id: number }[] = [];
    const all = await cost(async () => {
      found = await one.find({ _id: { $in: ids } }).toArray();
    });
    expect(found).deep.equal([{ _id: -5 }, { _id: 50_000 }]);
    // Parsed as well, but not searched.
    const read = await cost(() => one.find({ other: { $in: shuffled } }).toArray());
    expect(all).lessThan(Math.max(read, 50) * 6);
  });
});
