/** Headers of many blocks: read lazily, and complete even if blocks are added meanwhile. */
import { expect } from 'chai';
import type { Db } from 'mongodb';
import type { BlockRef } from '../../../../application/logs/record-index.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import type { Order } from '../../../../domain/logs/record-id.js';
import { createRecordIndex } from '../../../../projections/logs/index/reader.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { held, type IndexFixture, startIndexFixture } from '../../../support/record-index.js';

const PRODUCERS = 12;
/** Together more blocks than are first read together. */
const BLOCKS = 12;
const MORE = 3;
/** More open blocks than are checked for terms together. */
const OPEN = 600;
/** The minimum number of records of a full block. */
const EACH = 500;
const EVERYTHING: Filter = { fields: [], words: [] };
/** The numbers of the blocks of all producers, from `first` to before `last`. */
const numbers = (first: number, last: number) =>
  Array.from({ length: (last - first) * PRODUCERS }, (_, n) => first * PRODUCERS + n);

/** Blocks of all producers in turn, one per second. */
const requests = (first: number, last: number) =>
  numbers(first, last).map((n) => ({
    producerId: `p${n % PRODUCERS}`,
    receivedAt: NOON,
    records: Array.from({ length: EACH }, (_, nth) => ({ timestamp: NOON + n * 1000 + nth })),
  }));

describe('many blocks', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;
  let name: string;
  /** Number of headers read. */
  let read = 0;

  before(async () => {
    fixture = await startIndexFixture();
    name = await fixture.build(await fixture.ingested(requests(1, 1 + BLOCKS), 10));
  });
  after(() => fixture?.stop());
  beforeEach(() => {
    read = 0;
  });

  /** Counts the rows that a collection's cursors return. */
  const countRows = (target: object): object =>
    new Proxy(target, {
      get:
        (inner, member: string) =>
        (...args: readonly unknown[]) => {
          const result = Reflect.get(inner, member).apply(inner, args);
          if (member !== 'toArray') return countRows(result);
          return result.then((rows: readonly unknown[]) => {
            read += rows.length;
            return rows;
          });
        },
    });
  const blocks = (order: Order, filter = EVERYTHING, build = name) => {
    const { mongo, vault } = fixture.kernel;
    const collection = (each: string) => countRows(mongo.models.collection(each));
    const db = { collection, listCollections: mongo.models.listCollections.bind(mongo.models) } as unknown as Db;
    const index = createRecordIndex({ db, vault, build: () => build, version: () => 1 });
    return index.blocks(filter, order, () => undefined) as AsyncGenerator<BlockRef, undefined>;
  };
  const seconds = (from: number) => Math.floor((from - NOON) / 1000);

  for (const order of ['asc', 'desc'] as const) {
    it(`are read only as far as needed, ${order}`, async () => {
      const found: number[] = [];
      for await (const { from } of blocks(order)) {
        found.push(seconds(from));
        if (found.length === 1) expect(read).to.be.within(1, 64);
      }
      const all = numbers(1, 1 + BLOCKS);
      expect(found).to.deep.equal(order === 'asc' ? all : all.toReversed());
      // The last of a page is read again with the next one.
      expect(read).to.be.within(PRODUCERS * BLOCKS, PRODUCERS * BLOCKS + 2);
    });
  }

  it('can be joined by others while they are read, without missing or repeated blocks', async () => {
    const found: number[] = [];
    const rest = blocks('asc');
    found.push(seconds((await rest.next()).value!.from));
    const apply = await fixture.kernel.builds.open(records, name, held);
    const more = [...requests(0, 1), ...requests(1 + BLOCKS, 1 + BLOCKS + MORE)];
    await apply(await fixture.ingested(more, 10));
    for await (const { from } of rest) found.push(seconds(from));
    // Earlier blocks than the first one returned cannot be returned any more.
    expect(found).to.deep.equal(numbers(1, 1 + BLOCKS + MORE));
  });

  it('that are open are checked for terms only as far as needed', async () => {
    const open = Array.from({ length: OPEN }, (_, n) => ({
      producerId: `open${n}`,
      receivedAt: NOON,
      records: [{ timestamp: NOON + n * 1000, message: 'found' }],
    }));
    const build = await fixture.build(await fixture.ingested(open, 10));
    read = 0;
    const found: number[] = [];
    for await (const { from } of blocks('desc', { fields: [], words: ['found'] }, build)) {
      found.push(seconds(from));
      // All headers, but not all tables of terms.
      if (found.length === 1) expect(read).to.be.within(OPEN + 1, 2 * OPEN - 1);
    }
    expect(found).to.deep.equal([...open.keys()].toReversed());
    expect(read).to.equal(2 * OPEN);
  });
});
