/** Tests updates: operators, types, order of new fields, upserts and refusals. */
import { expect } from 'chai';
import { Double, Int32, Long } from 'mongodb';
import { codeOf, fixture } from '../../support/mongo-fixture.js';

const RAW = { promoteValues: false } as const;
const MAX_LONG = Long.MAX_VALUE;

describe('MongoDB: updates', () => {
  const mongo = fixture();

  /** Returns the document after an update, or the error's code. */
  async function after(document: object, update: object): Promise<unknown> {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 1 as never, ...document });
    const code = await codeOf(rows.updateOne({ _id: 1 as never }, update));
    if (code !== 'accepted') return code;
    const { _id, ...rest } = (await rows.findOne({}))!;
    return rest;
  }

  const CASES: [name: string, before: object, update: object, after: unknown][] = [
    [
      'adds new fields in lexicographic order and keeps the others where they are',
      { z: 1 },
      { $set: { c: 1, a: 1, z: 2, b: 1 } },
      { z: 2, a: 1, b: 1, c: 1 },
    ],
    ['makes the documents on the way', {}, { $set: { 'a.b.c': 1 } }, { a: { b: { c: 1 } } }],
    ['refuses a way through a scalar', { a: 1 }, { $set: { 'a.b': 1 } }, 28],
    ['refuses a way through null', { a: null }, { $set: { 'a.b': 1 } }, 28],
    ['refuses a name in an array', { a: [1] }, { $set: { 'a.b': 1 } }, 28],
    ['removes fields', { a: 1, l: [1, 2], b: { c: 1 } }, { $unset: { a: '', 'b.c': '', z: 1 } }, { l: [1, 2], b: {} }],
    [
      'pushes one, or each of several',
      { l: [1, 2] },
      { $push: { l: { $each: [3, 4] }, m: 1 } },
      { l: [1, 2, 3, 4], m: [1] },
    ],
    ['refuses to push onto what is no array', { l: 1 }, { $push: { l: 1 } }, 2],
    ['refuses clauses of $push it does not know', { l: [] }, { $push: { l: { $each: [1], $foo: 1 } } }, 2],
    ['refuses an $each that is no array', { l: [] }, { $push: { l: { $each: 1 } } }, 2],
    [
      'adds to a set what no element equals',
      { s: [1, { a: 1 }], t: [1], u: [] },
      { $addToSet: { s: { a: 1 }, t: 2, u: [1], v: 1 } },
      { s: [1, { a: 1 }], t: [1, 2], u: [[1]], v: [1] },
    ],
    ['refuses a set that is no array', { s: 1 }, { $addToSet: { s: 1 } }, 2],
    ['pulls by value', { l: [1, 2, 1] }, { $pull: { l: 1 } }, { l: [2] }],
    [
      'pulls documents by filter',
      { l: [{ a: 1, b: 2 }, { a: 2 }, 3] },
      { $pull: { l: { a: 1 } } },
      { l: [{ a: 2 }, 3] },
    ],
    ['pulls nothing from what is missing', {}, { $pull: { l: 1 } }, {}],
    ['refuses to pull from what is no array', { l: 1 }, { $pull: { l: 1 } }, 2],
    ['keeps the greater', { a: 5, b: 5 }, { $max: { a: 3, b: 7, c: 1 } }, { a: 5, b: 7, c: 1 }],
    ['compares across types for $max', { a: 5 }, { $max: { a: 'x' } }, { a: 'x' }],
    ['does nothing by $setOnInsert to a document that is there', { a: 1 }, { $setOnInsert: { a: 2, b: 2 } }, { a: 1 }],
    ['refuses to increase a text', { a: 'x' }, { $inc: { a: 1 } }, 14],
    ['refuses to increase by a text', { a: 1 }, { $inc: { a: 'x' } }, 14],
    ['refuses unknown operators', {}, { $foo: { a: 1 } }, 9],
    ['refuses operators that are no documents', {}, { $set: 1 }, 9],
    ['refuses two operators on one path', {}, { $set: { a: 1 }, $inc: { a: 1 } }, 40],
    ['refuses a path and one below it', {}, { $set: { a: {}, 'a.b': 1 } }, 40],
    ['refuses an empty part of a path', {}, { $set: { 'a..b': 1 } }, 56],
    ['refuses to change _id', {}, { $set: { _id: 2 } }, 66],
    ['refuses names that begin with a dollar', {}, { $set: { 'a.$b': 1 } }, 52],
    ['refuses such names inside values', {}, { $set: { a: { $b: 1 } } }, 52],
    ['refuses the positional operator', { a: [1] }, { $set: { 'a.$': 1 } }, 2],
  ];
  for (const [name, before, update, expected] of CASES)
    it(name, async () => {
      const result = await after(before, update);
      expect(result).to.deep.equal(expected);
      if (typeof result === 'object') expect(JSON.stringify(result)).to.equal(JSON.stringify(expected));
    });

  it('adds numbers in the type that can represent the sum', async () => {
    const sums: [unknown, unknown, string, string][] = [
      [new Int32(1), new Int32(2), 'Int32', '3'],
      [new Int32(2 ** 31 - 1), new Int32(1), 'Long', '2147483648'],
      [new Int32(1), Long.fromNumber(2), 'Long', '3'],
      [Long.fromString('9007199254740993'), new Int32(2), 'Long', '9007199254740995'],
      [new Int32(1), new Double(2.5), 'Double', '3.5'],
      [new Int32(1), new Double(2), 'Double', '3'],
    ];
    for (const [a, b, type, text] of sums) {
      const rows = mongo.collection();
      await rows.insertOne({ a });
      await rows.updateOne({}, { $inc: { a: b as number } });
      const sum = (await rows.findOne({}, RAW))?.a;
      expect([sum._bsontype, sum.toString()]).to.deep.equal([type, text]);
    }
  });

  it('refuses to overflow a Long and leaves the document alone', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ a: MAX_LONG, b: 1 });
    expect(await codeOf(rows.updateOne({}, { $inc: { a: 1 }, $set: { b: 2 } }))).to.equal(2);
    expect(await rows.countDocuments({ a: MAX_LONG, b: 1 })).to.equal(1);
  });

  it('names the document with a field that is not a number', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 'x' as never, a: 'text' });
    const error = await rows.updateOne({}, { $inc: { a: 1 } }).catch((reason) => reason);
    expect(error.message).to.include('{_id: "x"}').and.to.include("'a'");
  });

  it('counts documents as modified if their bytes change', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ a: 1 });
    const modified = async (update: object) => (await rows.updateOne({}, update)).modifiedCount;
    expect(await modified({ $set: { a: 1 } })).to.equal(0);
    expect(await modified({ $inc: { a: 0 } })).to.equal(0);
    expect(await modified({ $set: { a: Long.fromNumber(1) } })).to.equal(1);
    expect(await modified({ $addToSet: { s: 1 } })).to.equal(1);
    expect(await modified({ $addToSet: { s: 1 } })).to.equal(0);
  });

  it('counts a replacement without an _id as a change, and one equal to the document as none', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 1 as never, a: 1 });
    const replaced = async (replacement: object) => (await rows.replaceOne({ a: 1 }, replacement)).modifiedCount;
    expect(await replaced({ a: 1 })).to.equal(1);
    expect(await replaced({ _id: 1, a: 1 })).to.equal(0);
  });

  it('refuses names that begin with a dollar inside a replacement', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ a: 1 });
    const update = [{ q: {}, u: { a: [{ b: { $c: 1 } }] } }];
    const answer = await mongo.db.command({ update: rows.collectionName, updates: update });
    expect(answer.writeErrors[0].code).to.equal(52);
  });

  it('upserts the fields of the filter in the order of their paths', async () => {
    const rows = mongo.collection();
    await rows.updateOne({ z: 1, 'm.b': 2, a: 3, 'm.a': 4 }, { $set: { c: 5 } }, { upsert: true });
    const { _id, ...rest } = (await rows.findOne())!;
    expect(JSON.stringify(rest)).to.equal(JSON.stringify({ a: 3, m: { a: 4, b: 2 }, z: 1, c: 5 }));
  });

  it('replaces a whole document and keeps its _id first', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: 1 as never, a: 1 });
    await rows.replaceOne({ a: 1 }, { b: 2 });
    expect(await rows.findOne()).to.deep.equal({ _id: 1, b: 2 });
    const name = rows.collectionName;
    expect(await codeOf(mongo.db.command({ update: name, updates: [{ q: {}, u: { _id: 2 } }] }))).to.equal('accepted');
    const answer = await mongo.db.command({ update: name, updates: [{ q: {}, u: { _id: 2 } }] });
    expect(answer.writeErrors[0].code).to.equal(66);
    const mixed = await mongo.db.command({ update: name, updates: [{ q: {}, u: { a: 1, $set: { b: 1 } } }] });
    expect(mixed.writeErrors[0].code).to.be.oneOf([9, 52]);
    const multi = await mongo.db.command({ update: name, updates: [{ q: {}, u: { a: 1 }, multi: true }] });
    expect(multi.writeErrors[0].code).to.equal(9);
  });

  const UPSERTS: [filter: object, update: object, expected: object][] = [
    [{ a: 1, 'b.c': 2, d: { $eq: 3 } }, { $set: { e: 4 } }, { a: 1, b: { c: 2 }, d: 3, e: 4 }],
    [{ a: { $gt: 1 }, b: { $in: [2] } }, { $setOnInsert: { c: 3 } }, { b: 2, c: 3 }],
    [{ $and: [{ a: 1 }, { b: 2 }] }, { $inc: { n: 1 } }, { a: 1, b: 2, n: 1 }],
    [{ b: { $in: [2, 3] }, a: 1 }, { $set: { a: 5 } }, { a: 5 }],
    [{ $or: [{ a: 1 }, { b: 1 }] }, { $set: { c: 1 } }, { c: 1 }],
  ];
  for (const [filter, update, expected] of UPSERTS)
    it(`upserts ${JSON.stringify(expected)} for ${JSON.stringify(filter)}`, async () => {
      const rows = mongo.collection();
      const result = await rows.updateOne(filter, update, { upsert: true });
      const { _id, ...rest } = (await rows.findOne())!;
      expect(rest).to.deep.equal(expected);
      expect(result).to.include({ matchedCount: 0, modifiedCount: 0, upsertedCount: 1 });
      expect(result.upsertedId).to.deep.equal(_id);
    });

  it('refuses an upsert if the filter sets a field twice', async () => {
    const rows = mongo.collection();
    const twice = { $and: [{ a: 1 }, { a: 2 }] };
    expect(await codeOf(rows.updateOne(twice, { $set: { b: 1 } }, { upsert: true }))).to.equal(54);
  });

  it('does not create a collection for an update without upsert', async () => {
    const rows = mongo.collection();
    await rows.updateOne({ _id: 1 as never }, { $set: { a: 1 } });
    expect(await mongo.db.listCollections({ name: rows.collectionName }).toArray()).to.deep.equal([]);
  });

  it('changes a document once, even if the update changes the indexed field of the query', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1 });
    await rows.insertMany(Array.from({ length: 1000 }, (_, a) => ({ a })));
    const result = await rows.updateMany({ a: { $gte: 0 } }, { $inc: { a: 5000 } });
    expect(result.modifiedCount).to.equal(1000);
    expect(await rows.countDocuments({ a: { $gte: 5000, $lt: 6000 } })).to.equal(1000);
  });
});
