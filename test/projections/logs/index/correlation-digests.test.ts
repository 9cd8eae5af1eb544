/** Correlation ids are looked up by short digests that may collide. */
import { expect } from 'chai';
import { bucketSubject } from '../../../../domain/logs/retention-bucket.js';
import { dayName } from '../../../../domain/logs/timestamp.js';
import { correlationDigester } from '../../../../projections/logs/index/compress-and-seal.js';
import { rowsIn } from '../../../../projections/logs/index/rows.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { foundIn } from '../../../support/log-node.js';
import { type IndexFixture, type Request, startIndexFixture } from '../../../support/record-index.js';

const PART = `d${dayName(NOON)}`;
/** More than the store is asked for at once. */
const DIGESTS = 6000;

describe('correlation digests', function () {
  this.timeout(120_000);
  let fixture: IndexFixture;

  before(async () => {
    fixture = await startIndexFixture();
  });
  after(() => fixture?.stop());

  const request = (producerId: string, records: Request['records']): Request => ({
    producerId,
    receivedAt: NOON,
    records,
  });

  /** An id, and another one whose digest for the second subject is that of the first id for the first subject. */
  async function collision(...subjects: readonly string[]): Promise<readonly [string, string]> {
    const [first, second] = await Promise.all(
      subjects.map((subject) => correlationDigester(fixture.kernel.vault, subject, PART)),
    );
    const ids = new Map(Array.from({ length: 20_000 }, (_, n) => [first!(`a${n}`), `a${n}`]));
    for (let n = 0; ; n++) {
      const id = ids.get(second!(`b${n}`));
      if (id !== undefined) return [id, `b${n}`];
    }
  }

  it('lead to the records of each id, in any chunk', async () => {
    const idOf = (n: number) => `id${Math.floor(n / 3)}`;
    const records = Array.from({ length: 600 }, (_, n) => ({
      timestamp: NOON + n,
      padding: 'x'.repeat(300),
      correlationId: idOf(n),
    }));
    const name = await fixture.build(await fixture.ingested([request('api', records)], 10));
    expect((await fixture.blocksOf(name).findOne())?.chunks).to.have.length.greaterThan(3);
    for (let n = 0; n < 600; n += 30) {
      const filter = { fields: [], words: [], correlationId: idOf(n) };
      const found = await foundIn(fixture.indexOf(name), filter, 'asc');
      expect(found.map(({ instant }) => instant - NOON)).to.deep.equal([n, n + 1, n + 2]);
    }
    await fixture.kernel.builds.drop(name);
  });

  it('lead to a record whose block has a colliding digest in another chunk', async () => {
    const subjects = ['api', 'web'].map((each) =>
      bucketSubject({ producerId: each, day: dayName(NOON), audit: false } as never),
    );
    const small = await fixture.ingested([
      request('api', [{ timestamp: NOON }]),
      request('web', [{ timestamp: NOON }]),
    ]);
    const [id, colliding] = await collision(...subjects);
    const records = Array.from({ length: 600 }, (_, n) => ({
      timestamp: NOON + n,
      padding: 'x'.repeat(300),
      ...(n === 5 && { correlationId: colliding }),
      ...(n === 500 && { correlationId: id }),
    }));
    const name = await fixture.build(small, await fixture.ingested([request('web', records)], 10));
    // So many digests of the first producer that those of the second are in another group.
    const parts = [PART, ...Array.from({ length: DIGESTS }, () => 'dscattered')];
    const buckets = rowsIn(fixture.kernel.mongo.models, name, 'buckets');
    expect(await buckets.updateOne({ _id: subjects[0]! }, { $set: { parts } })).to.have.property('modifiedCount', 1);
    const found = await foundIn(fixture.indexOf(name), { fields: [], words: [], correlationId: id }, 'asc');
    expect(found.map(({ instant }) => instant - NOON)).to.deep.equal([500]);
    await fixture.kernel.builds.drop(name);
  });
});
