/** Row writes are bounded per call, and redelivered events cost little. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Long } from 'mongodb';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Kernel } from '../../../../bin/node/kernel.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import type { Projection } from '../../../../projections/kernel/projection.js';
import { type OwnKernel, startKernel } from '../../../support/test-kernel.js';

/** Creates as many rows as the event says, plus one that every event touches. */
const counters: Projection<DomainEvent> = {
  name: 'toys.counters',
  version: 1,
  indexes: [],
  on: {
    Counted: ({ data, position }) => [
      ...Array.from({ length: Number(data.rows) }, (_, n) => ({
        put: `${position}-${n}`,
        update: { $set: { n } },
      })),
      { put: 'all', update: { $inc: { events: 1 } } },
    ],
    Made: ({ data }) => Array.from({ length: Number(data.rows) }, (_, n) => ({ make: `made-${n}`, row: { n } })),
    Raised: ({ data }) =>
      Array.from({ length: Number(data.rows) }, (_, n) => ({ patch: `made-${n}`, update: { $inc: { n: 1 } } })),
    Cleared: () => [{ purge: { n: { $gte: 0 } }, many: true }],
  },
};

describe('rows of a read model', function () {
  this.timeout(120_000);
  let own: OwnKernel;
  let kernel: Kernel;

  before(async () => {
    own = await startKernel();
    kernel = own.kernel;
  });
  after(() => own?.stop());

  const event = (position: bigint, rows: number): RecordedEvent => ({
    id: randomUUID(),
    stream: 'toys.counter-x',
    revision: 0,
    version: 1,
    recordedAt: 0,
    position,
    type: 'Counted',
    data: { rows },
    metadata: {},
  });

  /** Counts store calls: the lease is asserted before each. */
  async function opened(options = {}, assertHeld = () => {}) {
    const checks = { times: 0 };
    const countAndAssert = () => {
      checks.times++;
      assertHeld();
    };
    const name = `toys_counters_v1_${randomUUID().slice(0, 8)}`;
    const apply = await kernel.builds.open(counters, name, { assertHeld: countAndAssert }, options);
    return {
      apply,
      checks,
      rows: kernel.mongo.models.collection<{ _id: string; _at?: Long; events?: number; n?: number }>(name),
    };
  }

  it("are written a thousand at a time to stay within a call's deadline", async () => {
    const { apply, checks, rows } = await opened();
    await apply([event(1n, 5500)]);
    expect(checks.times).to.equal(6);
    expect(await rows.countDocuments({})).to.equal(5501);
  });

  it('are written in the order of their events, though chunks of different rows are written in parallel', async () => {
    const { apply, rows } = await opened({ isRead: false });
    const made = { ...event(1n, 1500), type: 'Made' };
    // The first chunk takes several calls then.
    await apply([{ ...made, data: { rows: 1 } }]);
    await apply([made, { ...event(2n, 1500), type: 'Raised' }, { ...event(3n, 1500), type: 'Raised' }]);
    const found = await rows.find({}).toArray();
    expect(found.map((row) => `made-${Number(row.n) - 2}`)).to.have.members(found.map(({ _id }) => _id));
    expect(found).to.have.lengthOf(1500);
  });

  it('appear in the order of their events to readers of the build, also when the writer fails', async () => {
    let calls = 0;
    const failThird = () => {
      if (++calls === 3) throw new Error('the lease is lost');
    };
    const { apply, rows } = await opened({}, failThird);
    const made = { ...event(1n, 1500), type: 'Made' };
    await rows.insertOne({ _id: 'made-0', _at: Long.fromBigInt(1n), n: 0 });
    // The first chunk takes two calls, because its first row exists.
    expect(await apply([made]).catch(({ message }) => message)).to.equal('the lease is lost');
    const stored = (await rows.find({}).toArray()).map(({ n }) => Number(n)).sort((a, b) => a - b);
    expect(stored).to.deep.equal(Array.from({ length: 1000 }, (_, n) => n));
  });

  it('are purged a thousand at a time, and no others', async () => {
    const { apply, checks, rows } = await opened();
    await apply([event(1n, 2500)]);
    checks.times = 0;
    await apply([{ ...event(2n, 0), type: 'Cleared' }, event(3n, 2)]);
    expect(checks.times).to.equal(4);
    expect(await rows.countDocuments({})).to.equal(3);
    await apply([event(1n, 2500), { ...event(2n, 0), type: 'Cleared' }, event(3n, 2)]);
    expect(await rows.countDocuments({})).to.equal(3);
  });

  it('cost hardly more reads when all were written before', async () => {
    const { apply, checks, rows } = await opened();
    await apply([event(1n, 2500)]);
    checks.times = 0;
    await apply([event(1n, 2500)]);
    expect(checks.times).to.be.lessThan(6);
    expect(await rows.findOne({ _id: 'all' })).to.include({ events: 1 });
  });

  it('get the missing part once after a partial write', async () => {
    const { apply, checks, rows } = await opened();
    await apply([event(1n, 700)]);
    await rows.deleteMany({ _id: { $in: ['1-3', '1-699'] } });
    await apply([event(1n, 700), event(2n, 3)]);
    await apply([event(1n, 700), event(2n, 3)]);
    expect(checks.times).to.be.lessThan(12);
    expect(await rows.countDocuments({})).to.equal(704);
    expect(await rows.findOne({ _id: 'all' })).to.include({ events: 2 });
  });
});
