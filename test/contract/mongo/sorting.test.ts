/** Sorts in memory: all that are under way have so much room together, and each gives back its own. */
import { expect } from 'chai';
import { isReal } from '../../support/mongo.js';
import { codeOf, fixture } from './fixture.js';

describe('MongoDB: sorts under way', () => {
  if (isReal) return;
  const mongo = fixture({ ownProcess: true });
  const MEGABYTES = 1024 * 1024;

  it('are refused beyond what all may hold together, until some are over, however they end', async function () {
    this.timeout(60_000);
    const rows = mongo.collection();
    for (let n = 0; n < 8; n++) await rows.insertOne({ k: -n, text: Buffer.alloc(10 * MEGABYTES) });
    const begin = async () => {
      const cursor = rows.find().sort({ k: 1 }).batchSize(1);
      await cursor.next();
      return cursor;
    };
    const [one, two, three] = [await begin(), await begin(), await begin()];
    expect(await codeOf(begin())).to.equal(146);
    expect(await codeOf(begin())).to.equal(146);
    await one.close();
    const four = await begin();
    expect(await codeOf(begin())).to.equal(146);
    await two.toArray();
    const five = await begin();
    for (const each of [three, four, five]) await each.close();
    const all = await rows.find().sort({ k: 1 }).limit(3).toArray();
    expect(all.map(({ k }) => k)).to.deep.equal([-7, -6, -5]);
    for (let n = 0; n < 4; n++) expect(await rows.find().sort({ k: 1 }).toArray()).to.have.length(8);
  });
});
