/** Tests inserts, finds, updates and deletes through the driver. */
import { expect } from 'chai';
import { Double, Int32, Long, MongoBulkWriteError, ObjectId } from 'mongodb';
import { codeOf, fixture, ids } from '../../support/mongo-fixture.js';

describe('MongoDB: documents', () => {
  const mongo = fixture();

  it('stores a document and gives it back with its types', async () => {
    const rows = mongo.collection();
    await rows.insertOne({
      a: new Double(1),
      b: Long.fromString('9007199254740993'),
      c: [null, { d: true }],
    });
    const found = await rows.findOne({}, { promoteValues: false });
    expect(found?.a).to.be.instanceOf(Double);
    expect(found?.b.toString()).to.equal('9007199254740993');
    expect((await rows.findOne({}))?.c).to.deep.equal([null, { d: true }]);
  });

  it('puts _id first and generates a missing one', async () => {
    const rows = mongo.collection();
    const name = rows.collectionName;
    await mongo.db.command({ insert: name, documents: [{ a: 1, _id: 5 }, { b: 2 }] });
    const found = await rows.find().toArray();
    expect(found.map((row) => Object.keys(row)[0])).to.deep.equal(['_id', '_id']);
    expect(found.find((row) => row.b === 2)?._id).to.be.instanceOf(ObjectId);
  });

  it('refuses a second document of the same _id with key and value', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 'x' as never });
    const error = await rows.insertOne({ _id: 'x' as never }).catch((reason) => reason);
    expect(error.code).to.equal(11000);
    expect(error.keyPattern ?? error.errorResponse.keyPattern).to.deep.equal({ _id: 1 });
    expect(error.errorResponse.keyValue).to.deep.equal({ _id: 'x' });
    expect(error.message).to.equal(
      `E11000 duplicate key error collection: ${rows.namespace} index: _id_ dup key: { _id: "x" }`,
    );
  });

  it('treats 5, 5.0 and Long 5 as the same _id', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: new Int32(5) as never });
    expect(await codeOf(rows.insertOne({ _id: new Double(5) as never }))).to.equal(11000);
    expect(await codeOf(rows.insertOne({ _id: Long.fromNumber(5) as never }))).to.equal(11000);
  });

  it('refuses an array as _id', async () => {
    expect(await codeOf(mongo.collection().insertOne({ _id: [1] as never }))).to.be.oneOf([2, 53]);
  });

  it('stops an ordered batch at its first error and continues an unordered one', async () => {
    const batch = [{ _id: 1 }, { _id: 1 }, { _id: 2 }] as never[];
    for (const [ordered, inserted] of [
      [true, 1],
      [false, 2],
    ] as const) {
      const error = await mongo
        .collection()
        .insertMany(batch, { ordered })
        .catch((reason) => reason);
      expect(error).to.be.instanceOf(MongoBulkWriteError);
      expect(error.insertedCount).to.equal(inserted);
      expect(error.writeErrors.map((one: { index: number }) => one.index)).to.deep.equal([1]);
    }
  });

  it('mixes operations in one ordered bulkWrite', async () => {
    const rows = mongo.collection();
    const result = await rows.bulkWrite([
      { insertOne: { document: { _id: 1, a: 1 } as never } },
      { updateOne: { filter: { _id: 1 as never }, update: { $inc: { a: 1 } } } },
      { replaceOne: { filter: { _id: 2 as never }, replacement: { b: 1 }, upsert: true } },
      { updateMany: { filter: {}, update: { $set: { c: 1 } } } },
      { deleteOne: { filter: { _id: 1 as never } } },
      { deleteMany: { filter: { b: 1 } } },
    ]);
    expect(result).to.include({
      insertedCount: 1,
      matchedCount: 3,
      modifiedCount: 3,
      upsertedCount: 1,
      deletedCount: 2,
    });
    expect(result.upsertedIds).to.deep.equal({ 2: 2 });
  });

  it('guards a row by its position: a newer row turns the upsert into a duplicate key', async () => {
    const rows = mongo.collection();
    const at = (position: number) => ({
      filter: { _id: 'r' as never, _at: { $lt: Long.fromNumber(position) } },
      update: {
        $set: { _at: Long.fromNumber(position) },
        $push: { seen: position } as never,
        $inc: { n: 1 },
      },
      upsert: true,
    });
    await rows.bulkWrite([{ updateOne: at(5) }, { updateOne: at(7) }]);
    expect(await codeOf(rows.bulkWrite([{ updateOne: at(7) }]))).to.equal(11000);
    expect(await rows.findOne()).to.deep.equal({ _id: 'r', _at: 7, seen: [5, 7], n: 2 });
  });

  it('answers findOneAndUpdate with the document before or after, or null', async () => {
    const rows = mongo.collection();
    const filter = { _id: 'l' as never };
    expect(await rows.findOneAndUpdate(filter, { $set: { a: 1 } })).to.equal(null);
    const raw = await rows.findOneAndUpdate(filter, { $set: { a: 1 } }, { upsert: true, includeResultMetadata: true });
    expect(raw.lastErrorObject).to.deep.equal({ n: 1, updatedExisting: false, upserted: 'l' });
    expect(raw.value).to.equal(null);
    expect(await rows.findOneAndUpdate(filter, { $inc: { a: 1 } })).to.deep.equal({ _id: 'l', a: 1 });
    const after = await rows.findOneAndUpdate(filter, { $inc: { a: 1 } }, { returnDocument: 'after' });
    expect(after).to.deep.equal({ _id: 'l', a: 3 });
  });

  it('grants a lease to one of two owners', async () => {
    const leases = mongo.collection();
    const acquire = (owner: string) => {
      const free = { $or: [{ until: { $lte: new Date() } }, { owner }] };
      const update = { $set: { owner, until: new Date(Date.now() + 60_000) }, $inc: { fence: 1 } };
      const options = { upsert: true, returnDocument: 'after' } as const;
      return leases.findOneAndUpdate({ _id: 'lease' as never, ...free }, update, options);
    };
    expect(await acquire('me')).to.include({ owner: 'me', fence: 1 });
    expect(await codeOf(acquire('you'))).to.equal(11000);
    expect(await acquire('me')).to.include({ owner: 'me', fence: 2 });
  });

  it('counts with and without a filter', async () => {
    const rows = mongo.collection();
    expect(await rows.countDocuments()).to.equal(0);
    await rows.insertMany(Array.from({ length: 30 }, (_, a) => ({ a: a % 3 })));
    expect(await rows.countDocuments({ a: 1 })).to.equal(10);
    expect(await rows.countDocuments({ a: 9 })).to.equal(0);
    expect(await rows.estimatedDocumentCount()).to.equal(30);
  });

  it('projects by inclusion and exclusion, below dots and into arrays', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 1 as never, a: { b: 1, c: 2 }, l: [{ x: 1, y: 2 }, 5], z: 3 });
    const projected = (projection: object) => rows.findOne({}, { projection });
    expect(await projected({ 'a.b': 1, z: true })).to.deep.equal({ _id: 1, a: { b: 1 }, z: 3 });
    expect(await projected({ 'l.x': 1, _id: 0 })).to.deep.equal({ l: [{ x: 1 }] });
    expect(await projected({ 'l.x': 0, a: 0 })).to.deep.equal({ _id: 1, l: [{ y: 2 }, 5], z: 3 });
    expect(await projected({ _id: 0 })).to.have.all.keys('a', 'l', 'z');
    expect(await projected({ _id: 1 })).to.deep.equal({ _id: 1 });
    expect(await codeOf(projected({ a: 1, z: 0 }))).to.equal(31254);
    expect(await codeOf(projected({ a: 0, z: 1 }))).to.equal(31253);
    expect(await codeOf(projected({ a: 1, 'a.b': 1 }))).to.be.oneOf([31249, 31250]);
  });

  it('stores payloads of all sizes up to several megabytes', async () => {
    const rows = mongo.collection();
    const sizes = [0, 1, 2000, 4096, 9000, 33_000, 70_000, 1_000_000, 5_000_000];
    for (const [_id, size] of sizes.entries())
      await rows.insertOne({
        _id: _id as never,
        payload: Buffer.alloc(size, _id + 1),
        filler: 'x'.repeat(_id),
      });
    for (const search of [rows.find(), rows.find().sort({ filler: -1 })]) {
      const found = await search.toArray();
      expect(found).to.have.length(sizes.length);
      for (const { _id, payload } of found)
        expect(payload.buffer.equals(Buffer.alloc(sizes[Number(_id)]!, Number(_id) + 1)), String(_id)).to.equal(true);
    }
  });

  it('refuses unknown arguments of each command', async () => {
    const name = mongo.collection().collectionName;
    const code = (command: object) => codeOf(mongo.db.command(command));
    expect(await code({ noSuchCommand: 1 })).to.equal(59);
    expect(await code({ find: name, zzz: 1 })).to.equal(9);
    expect(await code({ insert: name, documents: [{}], zzz: 1 })).to.equal(40415);
    expect(await code({ update: name, updates: [{ q: {}, u: { $set: { a: 1 } }, zzz: 1 }] })).to.equal(40415);
    expect(await code({ findAndModify: name, update: { $set: { a: 1 } }, zzz: 1 })).to.equal(51177);
    expect(await code({ insert: name })).to.equal(40414);
    expect(await code({ insert: name, documents: [] })).to.equal(16);
    expect(await code({ update: name, updates: [] })).to.equal(16);
    expect(await code({ delete: name, deletes: [{ q: {}, limit: 2 }] })).to.equal(9);
    expect(await code({ ping: 1, zzz: 1 })).to.equal('accepted');
  });

  it('keeps the types of its answers', async () => {
    const rows = mongo.collection();
    const options = { promoteValues: false } as const;
    const inserted = await mongo.db.command({ insert: rows.collectionName, documents: [{ _id: 1 }] }, options);
    expect(inserted.n).to.be.instanceOf(Int32);
    expect(inserted.ok).to.be.instanceOf(Double);
    const found = await mongo.db.command({ find: rows.collectionName }, options);
    expect(found.cursor.id).to.be.instanceOf(Long);
    expect(await ids(rows.find())).to.deep.equal([1]);
  });
});
