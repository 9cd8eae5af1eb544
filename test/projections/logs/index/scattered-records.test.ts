/** Full blocks of scattered records: found like those of a day, and expired by record. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { aggregate } from '../../../../application/logs/query/aggregate.js';
import { EVERYTHING, type Filter } from '../../../../domain/logs/filter.js';
import { DAY_MS } from '../../../../domain/logs/timestamp.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import { type IndexFixture, leisurely, startIndexFixture } from '../../../support/record-index.js';

const BLOCKS = 18;
/** The minimum number of records of a full block. */
const EACH = 500;
const MIDNIGHT = NOON - (NOON % DAY_MS);

/** All records of the first blocks are early, none of the last, and every second one of those between. */
const isEarly = (block: number, n: number) => block < 3 || (block < 9 && n % 2 === 0);
const recordOf = (block: number, n: number) => ({
  timestamp: NOON + (isEarly(block, n) ? -2 : 2) * DAY_MS - n,
  block,
  n: block * EACH + n,
  requestId: `r${block * EACH + n}`,
});

describe('full blocks of scattered log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  const expired = (before: number) => fixture.recorded({ before, auditBefore: 0 }, 'RecordsExpired');
  const blocksRead = async (name: string, filter: Filter) => {
    let blocks = 0;
    for await (const _ of fixture.indexOf(name).blocks(filter, 'desc', leisurely.checkpoint)) blocks++;
    return blocks;
  };

  it('lose expired records in every kind of query, until nothing remains', async () => {
    const events = await fixture.ingested(
      Array.from({ length: BLOCKS }, (_, block) => ({
        producerId: 'api',
        receivedAt: NOON + 100 * DAY_MS,
        records: Array.from({ length: EACH }, (_, n) => recordOf(block, n)),
      })),
      10,
    );
    const expiry = expired(MIDNIGHT);
    const name = await fixture.build(events, [expiry]);
    const remaining = Array.from({ length: BLOCKS * EACH }, (_, n) => n).filter(
      (n) => !isEarly(Math.floor(n / EACH), n % EACH),
    );
    const found = async (filter: Partial<Filter>) =>
      (await foundIn(fixture.indexOf(name), { ...EVERYTHING, ...filter }, 'asc')).map(({ data }) => Number(data.n));

    expect((await found({})).sort((a, b) => a - b)).to.deep.equal(remaining);
    expect(await found({ correlationId: `r${4 * EACH + 1}` })).to.deep.equal([4 * EACH + 1]);
    expect(await found({ correlationId: `r${4 * EACH}` })).to.deep.equal([]);
    expect(await found({ fields: [{ path: 'n', value: String(4 * EACH) }] })).to.deep.equal([]);
    expect(await found({ to: MIDNIGHT - 1 })).to.deep.equal([]);
    expect(await found({ fields: [{ path: 'block', value: '4' }] })).to.have.length(EACH / 2);
    expect(await blocksRead(name, { ...EVERYTHING, fields: [{ path: 'block', value: '4' }] })).to.be.lessThan(3);
    expect(await blocksRead(name, EVERYTHING)).to.equal(BLOCKS - 3);
    const grouping = { by: 'field', path: 'block' } as const;
    const { buckets, total } = await aggregate(
      fixture.indexOf(name),
      { filter: EVERYTHING, grouping, ...leisurely },
      100,
    );
    expect(total).to.equal(remaining.length);
    expect(new Map(buckets.map(({ key, count }) => [Number(key), count])).get(4)).to.equal(EACH / 2);

    const oneByOne = await fixture.build(...events.map((event) => [event]), [expiry], [expiry]);
    expect(await fixture.rowsOf(oneByOne)).to.deep.equal(await fixture.rowsOf(name));
    const emptied = await fixture.build(events, [expiry, expired(MIDNIGHT + 3 * DAY_MS)]);
    await eventually(async () => (await fixture.blocksOf(emptied).countDocuments()) === 0);
    expect(await fixture.sectionsOf(emptied).countDocuments()).to.equal(0);
    await Promise.all([name, oneByOne, emptied].map((each) => fixture.kernel.builds.drop(each)));
  });
});
