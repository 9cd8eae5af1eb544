/** Term tables of full blocks rule out no block that has a match, and almost all others. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { aggregate } from '../../../../application/logs/query/aggregate.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import { bucketSubject } from '../../../../domain/logs/retention-bucket.js';
import { DAY_MS } from '../../../../domain/logs/timestamp.js';
import { records } from '../../../../projections/logs/index/records.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import { held, type IndexFixture, type Request, startIndexFixture } from '../../../support/record-index.js';

const BLOCKS = 37;
/** The minimum number of records of a full block. */
const EACH = 500;

/** Each block has a word of its own, and a value shared by every fifth block. */
const request = (nth: number, from = NOON): Request => ({
  producerId: 'api',
  receivedAt: NOON,
  records: Array.from({ length: EACH }, (_, n) => ({
    timestamp: from + (nth % 3) * 1000 + n,
    note: n === 7 ? `only${nth}` : 'usual',
    fifth: nth % 5,
  })),
});

describe('term tables of log records', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  const word = (each: string): Filter => ({ fields: [], words: [each] });
  const count = async (name: string, filter: Filter) => (await foundIn(fixture.indexOf(name), filter, 'desc')).length;
  /** Number of blocks that would be read. */
  const blocksRead = async (name: string, filter: Filter) => {
    let blocks = 0;
    const checkpoint = () => undefined;
    for await (const _ of fixture.indexOf(name).blocks(filter, 'asc', checkpoint)) blocks++;
    return blocks;
  };

  it('match each of many blocks individually', async () => {
    const events = await fixture.ingested(
      Array.from({ length: BLOCKS }, (_, nth) => request(nth)),
      10,
    );
    expect(events).to.have.length(BLOCKS);
    const name = await fixture.build(...events.map((event) => [event]));
    expect(await count(name, { fields: [], words: [] })).to.equal(BLOCKS * EACH);
    for (const nth of [0, 1, 15, 16, 31, BLOCKS - 1]) {
      expect(await count(name, word(`only${nth}`)), `only${nth}`).to.equal(1);
      expect(await blocksRead(name, word(`only${nth}`)), `only${nth}`).to.be.lessThan(4);
    }
    expect(await blocksRead(name, word('nobody'))).to.be.lessThan(3);
    const fifth: Filter = { fields: [{ path: 'fifth', value: '2' }], words: [] };
    expect(await count(name, fifth)).to.equal(
      EACH * Array.from({ length: BLOCKS }, (_, n) => n).filter((n) => n % 5 === 2).length,
    );
    expect(await count(name, { ...fifth, producerId: 'web' })).to.equal(0);
    const firstSecond: Filter = { fields: [], words: [], to: NOON };
    expect(await count(name, firstSecond)).to.equal(Math.ceil(BLOCKS / 3));

    const singleBatch = await fixture.build(events);
    expect(await fixture.rowsOf(singleBatch)).to.deep.equal(await fixture.rowsOf(name));
    await Promise.all([fixture.kernel.builds.drop(name), fixture.kernel.builds.drop(singleBatch)]);
  });

  it('lead to the records with all words, in any chunk of a block', async () => {
    const texts = Array.from(
      { length: EACH },
      (_, n) => `Fourth${n % 4} ${n % 7 === 0 ? 'seven' : 'other'} ${n} ${'x'.repeat(300)}`,
    );
    // The order of the instants alternates between the chunks.
    const scattered = texts.map((text, n) => ({
      timestamp: NOON + ((n * 211) % EACH),
      text,
      third: n % 3,
      early: n < 20,
      late: n >= EACH - 20,
    }));
    const name = await fixture.build(
      await fixture.ingested([{ producerId: 'api', receivedAt: NOON, records: scattered }], 10),
    );
    const block = await fixture.blocksOf(name).findOne();
    expect(block?.chunks).to.have.length.greaterThan(3);
    for (const words of [
      ['499'],
      ['fourth3'],
      ['fourth1', 'seven'],
      ['seven', '14'],
      ['seven', '15'],
      ['fourth2', '498'],
    ]) {
      const matches = texts.filter((text) => words.every((each) => text.toLowerCase().split(' ').includes(each)));
      expect(await count(name, { fields: [], words }), words.join(' ')).to.equal(matches.length);
    }
    const byFields = (...fields: [string, unknown][]): Filter => ({
      words: [],
      fields: fields.map(([path, value]) => ({ path, value: String(value) })),
    });
    const counted = (filter: Filter, by: 'level' | 'third') => {
      const grouping = by === 'level' ? { by } : { by: 'field' as const, path: by };
      const budget = { remaining: 1e6 };
      return aggregate(fixture.indexOf(name), { filter, grouping, checkpoint: () => undefined, budget }, 10);
    };
    // Values that all chunks have, that one has, and both together.
    for (const [filter, matching] of [
      [byFields(['third', 1]), (n: number) => n % 3 === 1],
      [byFields(['early', true]), (n: number) => n < 20],
      [byFields(['late', true], ['third', 2]), (n: number) => n >= EACH - 20 && n % 3 === 2],
      [byFields(['late', true], ['early', true]), () => false],
      [{ ...byFields(['early', true]), levels: ['INFO'] }, (n: number) => n < 20],
      [{ ...byFields(['early', true]), levels: ['ERROR'] }, () => false],
    ] as const) {
      const matches = scattered.filter((_, n) => matching(n));
      const what = JSON.stringify(filter);
      expect(await count(name, filter), what).to.equal(matches.length);
      const levels = matches.length > 0 ? [{ key: 'INFO', count: matches.length }] : [];
      expect(await counted(filter, 'level'), what).to.deep.equal({ buckets: levels, total: matches.length });
      const { buckets } = await counted(filter, 'third');
      for (const third of [0, 1, 2])
        expect(buckets.find(({ key }) => key === String(third))?.count ?? 0, what).to.equal(
          matches.filter((each) => each.third === third).length,
        );
    }
    await fixture.kernel.builds.drop(name);
  });

  it('do not answer from a build that has been dropped', async () => {
    const name = await fixture.build(await fixture.ingested([request(0), request(1)], 10));
    const index = fixture.indexOf(name);
    expect(await foundIn(index, word('only0'), 'desc')).to.have.length(1);
    await fixture.kernel.builds.drop(name);
    // The headers may still be cached.
    for (const each of ['only1', 'nobody']) {
      const failure = await foundIn(index, word(each), 'desc').catch((error) => error);
      expect(failure, each).to.be.instanceOf(UnavailableError);
    }
    const hours = { from: 0, to: NOON, producerId: undefined, audit: undefined };
    expect(await index.hours(hours, () => undefined).catch((error) => error)).to.be.instanceOf(UnavailableError);
    expect(await index.lastReceived().catch((error) => error)).to.be.instanceOf(UnavailableError);
  });

  it('return a block once after redelivery', async () => {
    const events = await fixture.ingested(
      Array.from({ length: BLOCKS }, (_, nth) => request(nth)),
      10,
    );
    const name = await fixture.build(events.slice(0, 20), events.slice(12), events.slice(17, 19), events);
    expect(await count(name, { fields: [], words: [] })).to.equal(BLOCKS * EACH);
    expect(await count(name, word('only18'))).to.equal(1);
    const once = await fixture.build(events);
    expect(await fixture.rowsOf(name)).to.deep.equal(await fixture.rowsOf(once));
    await Promise.all([fixture.kernel.builds.drop(name), fixture.kernel.builds.drop(once)]);
  });

  it('are deleted with all sections when their receipt day expires', async () => {
    const tomorrow = NOON + DAY_MS;
    const requests = Array.from({ length: BLOCKS }, (_, nth) => request(nth, tomorrow));
    const name = await fixture.build(await fixture.ingested(requests, 10));
    const rows = fixture.sectionsOf(name);
    expect(await rows.countDocuments()).to.be.greaterThan(2 * BLOCKS);
    const before = tomorrow - (tomorrow % DAY_MS);
    const apply = await fixture.kernel.builds.open(records, name, held);
    await apply([fixture.recorded({ before, auditBefore: 0 }, 'RecordsExpired')]);
    await eventually(async () => (await rows.countDocuments()) === 0);
    await fixture.kernel.builds.drop(name);
  });

  it('find nothing when their key is destroyed', async () => {
    const requests = Array.from({ length: 66 }, (_, nth) => request(nth));
    const events = await fixture.ingested(requests, 10);
    const name = await fixture.build(events);
    for (const nth of [0, 63, 64, 65]) expect(await count(name, word(`only${nth}`))).to.equal(1);
    await fixture.kernel.vault.destroy(bucketSubject(events[0]!.data as never));
    expect(await count(name, word('only1'))).to.equal(0);
    await fixture.kernel.builds.drop(name);
  });
});
