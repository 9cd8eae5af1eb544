/** Tests indexes: creation, refusals, uniqueness, and their use by queries. */
import { expect } from 'chai';
import type { Collection, Document } from 'mongodb';
import { codeOf, fixture, ids } from '../../support/mongo-fixture.js';

describe('MongoDB: indexes', () => {
  const mongo = fixture();
  const create = (rows: Collection<Document>, ...indexes: object[]) =>
    mongo.db.command({ createIndexes: rows.collectionName, indexes });

  it('counts the indexes before and after, and notes if all existed', async () => {
    const rows = mongo.collection();
    const first = await create(rows, { key: { a: 1 }, name: 'a' });
    expect(first).to.include({
      numIndexesBefore: 1,
      numIndexesAfter: 2,
      createdCollectionAutomatically: true,
    });
    const again = await create(rows, { key: { a: 1 }, name: 'a' });
    expect(again).to.include({ numIndexesBefore: 2, numIndexesAfter: 2, note: 'all indexes already exist' });
    expect((await rows.indexes()).map(({ name, key }) => [name, key])).to.deep.equal([
      ['_id_', { _id: 1 }],
      ['a', { a: 1 }],
    ]);
  });

  const REFUSED: [name: string, specification: object, code: number][] = [
    ['an empty key', { key: {}, name: 'x' }, 67],
    ['a key of 0', { key: { a: 0 }, name: 'x' }, 67],
    ['a key of true', { key: { a: true }, name: 'x' }, 67],
    ['an empty field', { key: { 'a..b': 1 }, name: 'x' }, 67],
    ['a dollar field', { key: { $a: 1 }, name: 'x' }, 67],
    ['a TTL on two fields', { key: { a: 1, b: 1 }, name: 'x', expireAfterSeconds: 1 }, 67],
    ['a negative TTL', { key: { a: 1 }, name: 'x', expireAfterSeconds: -1 }, 67],
    ['an unknown option', { key: { a: 1 }, name: 'x', zzz: 1 }, 197],
  ];
  for (const [name, specification, code] of REFUSED)
    it(`refuses ${name}, and then builds none of the list`, async () => {
      const rows = mongo.collection();
      await rows.insertOne({});
      expect(await codeOf(create(rows, { key: { ok: 1 }, name: 'ok' }, specification))).to.equal(code);
      expect(await rows.indexes()).to.have.length(1);
    });

  it('refuses an index that is nearly equal to another one', async () => {
    const rows = mongo.collection();
    await create(rows, { key: { a: 1 }, name: 'a' });
    expect(await codeOf(create(rows, { key: { b: 1 }, name: 'a' }))).to.equal(86);
    expect(await codeOf(create(rows, { key: { a: 1 }, name: 'b' }))).to.equal(85);
    expect(await codeOf(create(rows, { key: { a: 1 }, name: 'a', unique: true }))).to.be.oneOf([85, 86]);
    expect(await codeOf(create(rows, { key: { a: 1 }, name: 'a', expireAfterSeconds: 5 }))).to.be.oneOf([85, 86]);
  });

  it('enforces unique values; a missing one counts as null', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1 }, { unique: true });
    await rows.insertMany([{ _id: 1 as never, a: 'x' }, { _id: 2 as never }]);
    const error = await rows.insertOne({ a: 'x' }).catch((reason) => reason);
    expect(error.message).to.equal(
      `E11000 duplicate key error collection: ${rows.namespace} index: a_1 dup key: { a: "x" }`,
    );
    expect(error.errorResponse).to.deep.include({ code: 11000, keyPattern: { a: 1 }, keyValue: { a: 'x' } });
    const missing = await rows.insertOne({ b: 1 }).catch((reason) => reason);
    expect(missing.errorResponse.keyValue).to.deep.equal({ a: null });
    expect(await codeOf(rows.updateOne({ _id: 2 as never }, { $set: { a: 'x' } }))).to.equal(11000);
    expect(await codeOf(rows.updateOne({ _id: 1 as never }, { $set: { a: 'x', b: 1 } }))).to.equal('accepted');
    expect(await codeOf(rows.insertOne({ a: ['y', 'y'] }))).to.equal('accepted');
    expect(await codeOf(rows.insertOne({ a: ['z', 'x'] }))).to.equal(11000);
    expect(await rows.countDocuments({ a: 'z' })).to.equal(0);
  });

  it('lets missing values repeat in a unique sparse index, but not null', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1 }, { unique: true, sparse: true });
    await rows.insertMany([{}, {}, { a: null }]);
    expect(await codeOf(rows.insertOne({ a: null }))).to.equal(11000);
    expect(await rows.countDocuments({ a: null })).to.equal(3);
  });

  it('builds no unique index over duplicates', async () => {
    const rows = mongo.collection();
    await rows.insertMany([{ a: 1 }, { a: 1 }]);
    expect(await codeOf(rows.createIndex({ a: 1 }, { unique: true }))).to.equal(11000);
    expect(await rows.indexes()).to.have.length(1);
    await rows.deleteOne({});
    await rows.createIndex({ a: 1 }, { unique: true });
    expect(await codeOf(rows.insertOne({ a: 1 }))).to.equal(11000);
  });

  it('refuses two arrays in one compound index', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1, b: 1 });
    expect(await codeOf(rows.insertOne({ a: [1], b: [2] }))).to.equal(171);
    expect(await codeOf(rows.insertOne({ a: [1, 2], b: 2 }))).to.equal('accepted');
    expect(await rows.countDocuments()).to.equal(1);
  });

  it('enforces unique pairs inside one array', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ 'l.x': 1, 'l.y': 1 }, { unique: true });
    await rows.insertOne({
      l: [
        { x: 1, y: 2 },
        { x: 2, y: 1 },
      ],
    });
    expect(await codeOf(rows.insertOne({ l: [{ x: 1, y: 1 }] }))).to.equal('accepted');
    expect(await codeOf(rows.insertOne({ l: [{ x: 2, y: 1 }] }))).to.equal(11000);
  });

  it('distinguishes and orders long texts, although keys are truncated', async () => {
    const rows = mongo.collection();
    const text = (end: string) => 'x'.repeat(5000) + end;
    await rows.createIndex({ a: 1 }, { unique: true });
    await rows.insertMany(['b', 'c', 'a'].map((end) => ({ _id: text(end) as never, a: text(end) })));
    expect(await codeOf(rows.insertOne({ a: text('a') }))).to.equal(11000);
    expect(await codeOf(rows.insertOne({ _id: text('a') as never, a: 1 }))).to.equal(11000);
    expect(await rows.countDocuments({ a: text('b') })).to.equal(1);
    expect(await rows.countDocuments({ _id: text('b') as never })).to.equal(1);
    expect(await rows.countDocuments({ a: { $gt: text('a') } })).to.equal(2);
    expect(await rows.countDocuments({ a: { $lte: text('b') } })).to.equal(2);
    const sorted = await rows.find().sort({ a: 1 }).toArray();
    expect(sorted.map(({ a }) => a.at(-1))).to.deep.equal(['a', 'b', 'c']);
    expect((await ids(rows.find().sort({ _id: -1 }))).map((id) => String(id).at(-1))).to.deep.equal(['c', 'b', 'a']);
  });

  it('indexes existing documents during concurrent writes', async function () {
    this.timeout(120_000);
    const rows = mongo.collection();
    await rows.insertMany(Array.from({ length: 5000 }, (_, i) => ({ _id: i as never, a: i % 10 })));
    const building = rows.createIndex({ a: 1 });
    for (let i = 0; i < 50; i++) {
      await rows.updateOne({ _id: (i * 100) as never }, { $set: { a: 77 } });
      await rows.deleteOne({ _id: (i * 100 + 1) as never });
      await rows.insertOne({ _id: (10_000 + i) as never, a: 77 });
    }
    await building;
    expect(await rows.find({ a: 77 }).toArray()).to.have.length(100);
    expect(await rows.find({ a: { $gte: 0 } }).toArray()).to.have.length(5000);
  });
});

describe('MongoDB: expiry', () => {
  const mongo = fixture({ housekeepingMs: 50 });

  it('deletes documents with an expired date, or earliest of several dates, and no others', async function () {
    this.timeout(150_000);
    const rows = mongo.collection();
    await rows.createIndex({ at: 1 }, { expireAfterSeconds: 60 });
    const [old, young] = [new Date(Date.now() - 61_000), new Date()];
    await rows.insertMany([
      { _id: 1, at: old },
      { _id: 2, at: young },
      { _id: 3, at: [young, old] },
      { _id: 4, at: 1 },
      { _id: 5 },
      { _id: 6, at: 'x' },
    ] as never[]);
    while ((await rows.countDocuments({ _id: { $in: [1, 3] as never[] } })) > 0) await rows.findOne();
    expect(await ids(rows.find().sort({ _id: 1 }))).to.deep.equal([2, 4, 5, 6]);
  });
});
