/** Tests collections: create, drop, rename, list. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { codeOf, fixture } from '../../support/mongo-fixture.js';

describe('MongoDB: collections', () => {
  const mongo = fixture();
  const names = async () => (await mongo.db.listCollections().toArray()).map(({ name }) => name);

  it('creates a collection once', async () => {
    await mongo.db.createCollection('made');
    expect(await names()).to.include('made');
    expect(await codeOf(mongo.db.command({ create: 'made' }))).to.equal(48);
    expect(await codeOf(mongo.db.command({ create: 'other', capped: true }))).to.not.equal('accepted');
  });

  it('drops a collection with its indexes, and the next of its name starts empty', async () => {
    const rows = mongo.collection();
    await rows.insertMany(Array.from({ length: 2000 }, (_, a) => ({ a })));
    await rows.createIndex({ a: 1 });
    await rows.drop();
    expect(await names()).to.not.include(rows.collectionName);
    await rows.insertOne({ a: 1 });
    expect(await rows.countDocuments({ a: 1 })).to.equal(1);
    expect(await rows.estimatedDocumentCount()).to.equal(1);
    expect(await rows.indexes()).to.have.length(1);
    expect(await codeOf(mongo.db.command({ drop: 'nothing' }))).to.be.oneOf([26, 'accepted']);
  });

  it('creates and drops hundreds of collections', async function () {
    this.timeout(120_000);
    for (let i = 0; i < 300; i++) {
      const rows = mongo.db.collection(`many_${i}`);
      await rows.createIndex({ a: 1 });
      if (i >= 5) await mongo.db.dropCollection(`many_${i - 5}`);
    }
    expect((await names()).filter((name) => name.startsWith('many_'))).to.have.length(5);
  });

  it('reuses the space of dropped collections', async function () {
    const { directory } = mongo.server;
    if (!directory) return this.skip();
    this.timeout(60_000);
    const size = () => statSync(join(directory, 'data.mdb')).size;
    const build = async (name: string) => {
      await mongo.db.createIndex(name, { group: 1 });
      for (let part = 0; part < 4; part++) {
        const rows = Array.from({ length: 1000 }, (_, n) => ({
          _id: `${part}-${(n * 7919) % 1000}` as never,
          group: `g${n}`,
          text: 'x'.repeat(3000),
        }));
        await mongo.db.collection(name).insertMany(rows, { ordered: false });
      }
    };
    const before = size();
    await build('build_0');
    const one = size() - before;
    for (let n = 1; n <= 5; n++) {
      await build(`build_${n}`);
      await mongo.db.dropCollection(`build_${n - 1}`);
    }
    // Space freed by a drop can be used only by the write after the next one.
    expect(size() - before).to.be.below(2.5 * one);
  });

  it('filters the list of collections', async () => {
    await mongo.db.createCollection('listed');
    const listed = await mongo.db.listCollections({ name: 'listed' }).toArray();
    expect(listed[0]).to.deep.include({
      name: 'listed',
      type: 'collection',
      idIndex: { v: 2, key: { _id: 1 }, name: '_id_' },
    });
    expect(await mongo.db.listCollections({ name: 'listed' }, { nameOnly: true }).toArray()).to.deep.equal([
      { name: 'listed', type: 'collection' },
    ]);
  });

  it('refuses invalid names', async () => {
    for (const name of ['', 'a$b', '.a']) expect(await codeOf(mongo.db.command({ create: name })), name).to.equal(73);
  });
});
