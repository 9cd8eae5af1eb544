/** Many registers of log records: no more of them are read than it takes, and what becomes of them meanwhile is not missed. */
import { expect } from 'chai';
import type { Db } from 'mongodb';
import type { BlockRef } from '../../../../application/logs/record-index.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import type { Order } from '../../../../domain/logs/record-id.js';
import { createRecordIndex } from '../../../../projections/logs/index/reader.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { held, type IndexFixture, startIndexFixture } from '../../../support/record-index.js';

/** More than registers are read at once at first. */
const PRODUCERS = 12;
/** Too few for a register of many. */
const BLOCKS = 12;
/** With one before and these after them it is enough. */
const MORE = 3;
/** As few as make a block of their own. */
const EACH = 500;
const EVERYTHING: Filter = { fields: [], words: [] };
/** The blocks from each producer's `first` on, to before its `last`. */
const numbers = (first: number, last: number) =>
  Array.from({ length: (last - first) * PRODUCERS }, (_, n) => first * PRODUCERS + n);

/** Blocks of all producers by turns, one a second. */
const requests = (first: number, last: number) =>
  numbers(first, last).map((n) => ({
    producerId: `p${n % PRODUCERS}`,
    receivedAt: NOON,
    records: Array.from({ length: EACH }, (_, nth) => ({ timestamp: NOON + n * 1000 + nth })),
  }));

describe('many registers of log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;
  let name: string;
  /** Of how many registers the blocks were read. */
  let read = 0;

  before(async () => {
    fixture = await startIndexFixture();
    name = await fixture.build(await fixture.ingested(requests(1, 1 + BLOCKS), 10));
  });
  after(() => fixture?.stop());
  beforeEach(() => {
    read = 0;
  });

  const counting = (target: object, of: (member: string, args: readonly unknown[], made: object) => object) =>
    new Proxy(target, {
      get: (inner, member: string) => {
        const found: unknown = Reflect.get(inner, member);
        if (typeof found !== 'function') return found;
        return (...args: readonly unknown[]) => of(member, args, found.apply(inner, args));
      },
    });
  const blocks = (order: Order) => {
    const db = counting(fixture.kernel.mongo.models, (member, [collection], made) =>
      member === 'collection' && String(collection).endsWith('.sections')
        ? counting(made, (call, [filter], answer) => {
            const ids = (filter as { _id?: { $in?: readonly unknown[] } })._id?.$in;
            if (call === 'find') read += ids?.length ?? 0;
            return answer;
          })
        : made,
    ) as Db;
    const { vault } = fixture.kernel;
    const index = createRecordIndex({ db, vault, build: () => name, version: () => 1 });
    return index.blocks(EVERYTHING, order, () => undefined) as AsyncGenerator<BlockRef, undefined>;
  };
  const seconds = (from: number) => Math.floor((from - NOON) / 1000);

  for (const order of ['asc', 'desc'] as const) {
    it(`are read as far as their blocks are wanted, ${order}`, async () => {
      const found: number[] = [];
      for await (const { from } of blocks(order)) {
        found.push(seconds(from));
        if (found.length === 1) expect(read).to.be.within(1, 8);
      }
      const all = numbers(1, 1 + BLOCKS);
      expect(found).to.deep.equal(order === 'asc' ? all : all.toReversed());
      expect(read).to.equal(PRODUCERS * BLOCKS);
    });
  }

  it('become others while they are read, and none of their blocks is missed, or comes twice', async () => {
    const found: number[] = [];
    const rest = blocks('asc');
    found.push(seconds((await rest.next()).value!.from));
    const apply = await fixture.kernel.builds.open(records, name, held);
    const more = [...requests(0, 1), ...requests(1 + BLOCKS, 1 + BLOCKS + MORE)];
    await apply(await fixture.ingested(more, 10));
    for await (const { from } of rest) found.push(seconds(from));
    // Those from before the first one are too late.
    expect(found).to.deep.equal(numbers(1, 1 + BLOCKS + MORE));
  });

  it('are in order where each is of all the time', async () => {
    for (const order of ['asc', 'desc'] as const) {
      const found: number[] = [];
      for await (const { from } of blocks(order)) found.push(seconds(from));
      const all = numbers(0, 1 + BLOCKS + MORE);
      expect(found).to.deep.equal(order === 'asc' ? all : all.toReversed());
    }
    expect(read).to.equal(2 * PRODUCERS);
  });
});
