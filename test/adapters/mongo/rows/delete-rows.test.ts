/** Rows deleted with their subject: many subjects cost little more than one. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import type { Kernel } from '../../../../bin/node/kernel.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import type { Projection } from '../../../../projections/kernel/projection.js';
import { type OwnKernel, startKernel } from '../../../support/test-kernel.js';

const answers: Projection<DomainEvent> = {
  name: 'toys.answers',
  version: 1,
  indexes: [{ key: { of: 1 } }],
  on: {
    Answered: ({ data, position }) =>
      Array.from({ length: Number(data.rows) }, (_, n) => ({
        make: `${position}-${n}`,
        row: { of: data.of },
      })),
    Deleted: ({ data }) => [{ purge: { of: data.of }, many: true }],
  },
};

describe('rows deleted with their subject', function () {
  this.timeout(120_000);
  let own: OwnKernel;
  let kernel: Kernel;

  before(async () => {
    own = await startKernel();
    kernel = own.kernel;
  });
  after(() => own?.stop());

  const event = (position: number, type: string, of: string, rows = 1): RecordedEvent => ({
    id: randomUUID(),
    stream: 'toys.answers-x',
    revision: 0,
    version: 1,
    recordedAt: 0,
    position: BigInt(position),
    type,
    data: { of, rows },
    metadata: {},
  });

  /** Counts row writes: the lease is asserted before each. */
  async function opened() {
    const written = { times: 0 };
    const name = `toys_answers_v1_${randomUUID().slice(0, 8)}`;
    const apply = await kernel.builds.open(answers, name, { assertHeld: () => void written.times++ });
    const rows = kernel.mongo.models.collection<{ _id: string }>(name);
    const left = async () => (await rows.find({}).toArray()).map(({ _id }) => _id).sort();
    return { apply, written, rows, left };
  }

  it('are deleted together, so that thousands of deletions do not delay other updates', async () => {
    const { apply, written, left } = await opened();
    const named = (n: number) => `thing ${n}`;
    await apply([event(1, 'Answered', named(7)), event(2, 'Answered', named(8)), event(3, 'Answered', 'kept')]);
    written.times = 0;
    await apply(Array.from({ length: 900 }, (_, n) => event(10 + n, 'Deleted', named(n))));
    expect(written.times).to.be.lessThan(5);
    expect(await left()).to.deep.equal(['3-0']);
  });

  it('stay if a later event created them, also on redelivery', async () => {
    const { apply, left } = await opened();
    const events = [
      event(1, 'Answered', 'a'),
      event(2, 'Answered', 'b'),
      event(3, 'Deleted', 'a'),
      event(4, 'Answered', 'a'),
      event(5, 'Deleted', 'b'),
      event(6, 'Answered', 'b'),
    ];
    await apply(events);
    expect(await left()).to.deep.equal(['4-0', '6-0']);
    await apply(events);
    expect(await left()).to.deep.equal(['4-0', '6-0']);
  });

  it('are all deleted, however many there are', async () => {
    const { apply, left } = await opened();
    await apply([event(1, 'Answered', 'a', 1200), event(2, 'Answered', 'b', 1100), event(3, 'Answered', 'c', 2)]);
    await apply([event(4, 'Deleted', 'a'), event(5, 'Answered', 'a'), event(6, 'Deleted', 'b')]);
    expect(await left()).to.deep.equal(['3-0', '3-1', '5-0']);
  });
});
