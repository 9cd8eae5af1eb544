/** Tests cursors: batches, their ends, and invalid requests. */
import { expect } from 'chai';
import { Int32, Long } from 'mongodb';
import { codeOf, fixture, ids } from '../../support/mongo-fixture.js';

describe('MongoDB: cursors', () => {
  const mongo = fixture();

  /** Creates a collection with that many documents. */
  async function filled(count: number) {
    const rows = mongo.collection();
    await rows.insertMany(Array.from({ length: count }, (_, i) => ({ _id: i as never, a: i })));
    return { rows, name: rows.collectionName };
  }

  it('returns 101 documents first, then all others', async () => {
    const { name } = await filled(250);
    const first = await mongo.db.command({ find: name });
    expect(first.cursor.firstBatch).to.have.length(101);
    const rest = await mongo.db.command({ getMore: first.cursor.id, collection: name });
    expect(rest.cursor.nextBatch).to.have.length(149);
    expect(rest.cursor.id).to.equal(0);
  });

  it('leaves a cursor open after a full batch, even if nothing follows', async () => {
    const { name } = await filled(5);
    const first = await mongo.db.command({ find: name, batchSize: 5 }, { promoteLongs: false });
    expect(first.cursor.id.isZero()).to.equal(false);
    const rest = await mongo.db.command({ getMore: first.cursor.id, collection: name }, { promoteLongs: false });
    expect(rest.cursor.nextBatch).to.deep.equal([]);
    expect(rest.cursor.id.isZero()).to.equal(true);
  });

  it('closes a cursor when the limit is reached or a batch is not full', async () => {
    const { name } = await filled(5);
    for (const command of [{ limit: 5, batchSize: 5 }, { batchSize: 6 }, { singleBatch: true, batchSize: 2 }]) {
      const answer = await mongo.db.command({ find: name, ...command }, { promoteLongs: false });
      expect(answer.cursor.id.isZero(), JSON.stringify(command)).to.equal(true);
    }
  });

  it('opens a cursor without documents for batch size 0', async () => {
    const { name } = await filled(3);
    const first = await mongo.db.command({ find: name, batchSize: 0 }, { promoteLongs: false });
    expect(first.cursor.firstBatch).to.deep.equal([]);
    const rest = await mongo.db.command({ getMore: first.cursor.id, collection: name });
    expect(rest.cursor.nextBatch).to.have.length(3);
  });

  it('walks any number of documents in order, with skip and limit', async () => {
    const { rows } = await filled(1000);
    const found = await ids(
      rows
        .find({ a: { $gte: 10 } })
        .sort({ a: -1 })
        .skip(5)
        .limit(700)
        .batchSize(33),
    );
    expect(found).to.deep.equal(Array.from({ length: 700 }, (_, i) => 994 - i));
  });

  it('refuses cursors that are unknown, of another collection, or no Long', async () => {
    const { name } = await filled(5);
    const { cursor } = await mongo.db.command({ find: name, batchSize: 1 }, { promoteLongs: false });
    const more = (command: object) => codeOf(mongo.db.command({ getMore: cursor.id, collection: name, ...command }));
    expect(await more({ getMore: Long.fromNumber(12345) })).to.equal(43);
    expect(await more({ collection: 'other' })).to.equal(13);
    expect(await more({ getMore: new Int32(1) })).to.equal(14);
    expect(await more({ batchSize: 0 })).to.equal(2);
    expect(await more({})).to.equal('accepted');
  });

  it('ends a cursor when its collection is dropped', async () => {
    const { rows, name } = await filled(5);
    const { cursor } = await mongo.db.command({ find: name, batchSize: 1 }, { promoteLongs: false });
    await rows.drop();
    expect(await codeOf(mongo.db.command({ getMore: cursor.id, collection: name }))).to.equal(175);
  });

  it('kills cursors and reports unknown ones', async () => {
    const { name } = await filled(5);
    const options = { promoteLongs: false } as const;
    const { cursor } = await mongo.db.command({ find: name, batchSize: 1 }, options);
    const unknown = Long.fromNumber(999);
    const killed = await mongo.db.command({ killCursors: name, cursors: [cursor.id, unknown] }, options);
    expect(killed.cursorsKilled).to.deep.equal([cursor.id]);
    expect(killed.cursorsNotFound).to.deep.equal([unknown]);
    expect(await codeOf(mongo.db.command({ getMore: cursor.id, collection: name }))).to.equal(43);
  });

  it('ends a search or a write at its time limit', async function () {
    this.timeout(120_000);
    const rows = mongo.collection();
    for (let i = 0; i < 20; i++) await rows.insertMany(Array.from({ length: 1000 }, (_, a) => ({ a, i })));
    const slow = { $or: Array.from({ length: 200 }, (_, n) => ({ i: 100 + n, a: { $gt: -n } })) };
    expect(await codeOf(rows.find(slow).maxTimeMS(1).toArray())).to.equal(50);
    expect(await codeOf(rows.countDocuments(slow, { maxTimeMS: 1 }))).to.equal(50);
    expect(await codeOf(rows.findOneAndUpdate(slow, { $set: { b: 1 } }, { maxTimeMS: 1 }))).to.equal(50);
    const many = Array.from({ length: 20_000 }, (_, _id) => ({
      q: { _id },
      u: { $set: { b: 1 } },
      upsert: true,
    }));
    // Errors of the whole command, not of one of its statements.
    const changes = [
      { update: rows.collectionName, updates: [{ q: slow, u: { $set: { b: 1 } }, multi: true }] },
      { update: rows.collectionName, updates: [{ q: slow, u: { $set: { b: 1 } } }] },
      { delete: rows.collectionName, deletes: [{ q: slow, limit: 0 }] },
    ];
    for (const change of changes) expect(await codeOf(mongo.db.command({ ...change, maxTimeMS: 1 }))).to.equal(50);
    const batch = { update: rows.collectionName, updates: many, maxTimeMS: 60 };
    expect(await codeOf(mongo.db.command(batch))).to.equal(50);
  });

  it('splits batches at 16 MiB of projected documents', async () => {
    const rows = mongo.collection();
    const payload = Buffer.alloc(1_000_000);
    for (let i = 0; i < 20; i++) await rows.insertOne({ payload });
    const answer = await mongo.db.command({ find: rows.collectionName });
    expect(answer.cursor.firstBatch).to.have.length(16);
    expect(await rows.find().toArray()).to.have.length(20);
    const ids = await mongo.db.command({ find: rows.collectionName, projection: { _id: 1 } });
    expect(ids.cursor.firstBatch).to.have.length(20);
  });
});
