/** Tests that the embedded MongoDB refuses unsupported requests with the real server's code for unknown input. */
import { expect } from 'chai';
import { Decimal128, type Document, Long, MinKey, Timestamp } from 'mongodb';
import { isReal } from '../../support/mongo.js';
import { codeOf, fixture } from '../../support/mongo-fixture.js';

describe('MongoDB: the embedded engine refuses', () => {
  if (isReal) return;
  const mongo = fixture();
  const nested = (depth: number): Document => (depth === 0 ? {} : { a: nested(depth - 1) });
  const deepPath = Array.from({ length: 90 }, () => 'a').join('.');

  const FILTERS: [name: string, filter: object][] = [
    ['a pattern', { a: /x/ }],
    ['$regex', { a: { $regex: 'x', $options: 'i' } }],
    ['a pattern in $in', { a: { $in: [/x/] } }],
    ['a pattern in $nin', { a: { $nin: [/x/] } }],
    ['a pattern under $not', { a: { $not: /x/ } }],
    ['equality to a pattern', { a: { $eq: /x/ } }],
    ['$elemMatch', { a: { $elemMatch: { $gt: 1 } } }],
    ['a MinKey', { a: { $gt: new MinKey() } }],
    ['a decimal', { a: { $in: [Decimal128.fromString('1')] } }],
    ['a position inside a path', { 'a.0.b': 1 }],
    ['a position at the end of a path', { 'a.0': 1 }],
    ['$nor', { $nor: [{ a: 1 }] }],
    ['$nin', { a: { $nin: [1] } }],
    ['$not', { a: { $not: { $gt: 1 } } }],
  ];
  for (const [name, filter] of FILTERS)
    it(`${name} in a filter`, async () => {
      const rows = mongo.collection();
      await rows.insertOne({ a: 'x' });
      expect(await codeOf(rows.findOne(filter))).to.equal(2);
      expect(await codeOf(rows.updateOne(filter, { $set: { b: 1 } }))).to.equal(2);
      expect(await codeOf(rows.deleteMany(filter))).to.equal(2);
    });

  const UPDATES: [name: string, document: object, update: object, code: number][] = [
    ['$mul', { a: 1 }, { $mul: { a: 2 } }, 9],
    ['$currentDate', {}, { $currentDate: { a: true } }, 9],
    ['$slice', { a: [] }, { $push: { a: { $each: [1], $slice: 2 } } }, 2],
    ['a $push of nothing', { a: [] }, { $push: { a: { $each: [] } } }, 2],
    ['a pattern in $pull', { a: ['x'] }, { $pull: { a: /x/ } }, 2],
    ['a condition of $pull', { a: [5] }, { $pull: { a: { $gt: 1 } } }, 2],
    ['a filter of $pull on an array in the array', { a: [[{ b: 1 }]] }, { $pull: { a: { b: 1 } } }, 2],
    ['the positional operator', { a: [1] }, { $set: { 'a.$': 2 } }, 2],
    ['a position', { a: [1] }, { $set: { 'a.0': 2 } }, 2],
    ['a position for $unset', { a: [1] }, { $unset: { 'a.0': '' } }, 2],
    ['$each in $addToSet', { a: [1] }, { $addToSet: { a: { $each: [2] } } }, 2],
    ['$min', { a: 1 }, { $min: { a: 0 } }, 9],
    ['array filters', { a: [1] }, { $set: { 'a.$[]': 2 } }, 2],
    ['a path of 90 parts', {}, { $set: { [deepPath]: 1 } }, 15],
    ['another type of the same _id', {}, { $set: { _id: Long.fromNumber(1) } }, 66],
  ];
  for (const [name, document, update, code] of UPDATES)
    it(`${name} in an update, and changes nothing`, async () => {
      const rows = mongo.collection();
      await rows.insertOne({ _id: 1 as never, ...document });
      const before = await rows.findOne();
      expect(await codeOf(rows.updateOne({ _id: 1 as never }, update))).to.equal(code);
      expect(await rows.findOne()).to.deep.equal(before);
    });

  it('deeply nested documents', async () => {
    const rows = mongo.collection();
    expect(await codeOf(rows.insertOne(nested(80)))).to.equal('accepted');
    for (const depth of [120, 190]) {
      expect(await codeOf(rows.insertOne(nested(depth)))).to.equal(15);
      expect(await codeOf(rows.findOne(nested(depth)))).to.equal(15);
    }
  });

  it('empty timestamps, which the real server would fill', async () => {
    const rows = mongo.collection();
    const at = new Timestamp({ t: 0, i: 0 });
    expect(await codeOf(rows.insertOne({ at }))).to.equal(2);
    expect(await codeOf(rows.replaceOne({ a: 1 }, { at }, { upsert: true }))).to.equal(2);
    expect(await codeOf(rows.insertOne({ a: { at } }))).to.equal('accepted');
  });

  it('natural order, hints, sorts by positions and by two fields inside arrays', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ a: [{ x: 1, y: 2 }], b: [1] });
    expect(await codeOf(rows.find().sort({ $natural: -1 }).toArray())).to.equal(2);
    expect(await codeOf(rows.find().hint({ _id: 1 }).toArray())).to.equal(9);
    expect(await codeOf(rows.find().sort({ 'a.0': 1 }).toArray())).to.equal(2);
    expect(await codeOf(rows.find().sort({ 'a.x': 1, 'a.y': 1 }).toArray())).to.equal(2);
    expect(await codeOf(rows.find().sort({ 'a.x': 1, b: 1 }).toArray())).to.equal(2);
    expect(await codeOf(rows.find().sort({ 'a.x': 1, c: 1 }).toArray())).to.equal('accepted');
  });

  it('projections below _id, by position and by expressions', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ _id: { a: 1 } as never, l: [1] });
    for (const projection of [{ '_id.a': 1 }, { '_id.a': 0 }, { 'l.$': 1 }, { l: { $slice: 1 } }, { l: 'x' }])
      expect(await codeOf(rows.findOne({}, { projection })), JSON.stringify(projection)).to.equal(2);
  });

  it('unusual indexes, and more than 64 per collection', async () => {
    const rows = mongo.collection();
    expect(await codeOf(rows.createIndex({ a: 1 }, { partialFilterExpression: { a: 1 } }))).to.equal(67);
    for (const key of [{ a: 2 }, { a: 1.5 }, { a: -0.5 }, { 'a.0': 1 }])
      expect(await codeOf(rows.createIndex(key as never)), JSON.stringify(key)).to.equal(67);
    const many = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => ({ key: { [`f${from + n}`]: 1 } }));
    await rows.createIndexes(many(0, 63));
    expect(await codeOf(rows.createIndexes(many(63, 64)))).to.equal(67);
    expect(await rows.indexes()).to.have.length(64);
  });

  it('an index on _id of another kind, its name on another, and a TTL that is not whole', async () => {
    const { collectionName } = mongo.collection();
    const made = (specification: object) =>
      codeOf(mongo.db.command({ createIndexes: collectionName, indexes: [{ name: 'x', ...specification }] }));
    expect(await made({ key: { _id: 1 } })).to.equal('accepted');
    expect(await made({ key: { _id: -1 } })).to.equal(2);
    for (const option of [{ unique: true }, { sparse: true }, { expireAfterSeconds: 1 }])
      expect(await made({ key: { _id: 1 }, ...option }), JSON.stringify(option)).to.equal(197);
    expect(await made({ key: { a: 1 }, name: '_id_' })).to.equal(2);
    expect(await made({ key: { a: 1 }, expireAfterSeconds: 1.5 })).to.equal(67);
  });

  it('time limits beyond 32 bits', async () => {
    const { collectionName: name } = mongo.collection();
    expect(await codeOf(mongo.db.command({ find: name, maxTimeMS: 2 ** 31 }))).to.equal(2);
    expect(await codeOf(mongo.db.command({ find: name, maxTimeMS: 2 ** 31 - 1 }))).to.equal('accepted');
  });

  it('system collections', async () => {
    const rows = mongo.db.collection('system.users');
    expect(await codeOf(rows.insertOne({}))).to.equal(73);
    expect(await codeOf(rows.deleteMany({}))).to.equal(73);
    expect(await codeOf(rows.createIndex({ a: 1 }))).to.equal(73);
  });

  it('unsupported commands, stages and options, and names them', async () => {
    const name = mongo.collection().collectionName;
    const refusal = async (command: Document) =>
      mongo.db.command(command).then(
        () => ({ code: 'accepted', isExplained: false }),
        ({ code, message }) => ({ code, isExplained: /does not implement|no such command/.test(message) }),
      );
    const counting = { $group: { _id: 1, n: { $sum: 1 } } };
    for (const command of [
      { distinct: name, key: 'a' },
      { explain: { find: name } },
      { dropIndexes: name, index: '*' },
    ])
      expect(await refusal(command)).to.deep.equal({ code: 59, isExplained: true });
    const multi = { update: name, updates: [{ q: {}, u: { $set: { a: 1 } }, multi: true, upsert: true }] };
    for (const command of [{ findAndModify: name, remove: true }, multi])
      expect(await refusal(command)).to.deep.equal({ code: 9, isExplained: true });
    expect(await refusal({ aggregate: name, pipeline: [], cursor: {} })).to.deep.equal({
      code: 40324,
      isExplained: true,
    });
    for (const pipeline of [
      [{ $match: {} }],
      [counting, { $match: {} }],
      [{ $match: {} }, { $limit: 1 }, counting],
      [{ $project: { a: 1 } }, counting],
    ])
      expect(await refusal({ aggregate: name, pipeline, cursor: {} })).to.deep.equal({
        code: 40324,
        isExplained: true,
      });
    for (const option of ['allowDiskUse', 'collation', 'hint'])
      expect(await refusal({ find: name, [option]: {} })).to.deep.equal({ code: 9, isExplained: true });
    const filtered = { q: {}, u: { $set: { a: 1 } }, arrayFilters: [] };
    expect(await refusal({ update: name, updates: [filtered] })).to.deep.equal({ code: 40415, isExplained: true });
    expect(await refusal({ count: name, query: {} })).to.deep.equal({ code: 40415, isExplained: true });
    const session = mongo.client.startSession();
    session.startTransaction();
    const inside = mongo.db.collection(name).insertOne({}, { session });
    const error = await inside.catch((reason) => reason);
    expect(error.code).to.equal(263);
    expect(error.message).to.match(/does not implement transactions/);
    await session.abortTransaction().catch(() => {});
    await session.endSession();
  });

  it('a document that would have more than 100,000 entries in an index', async () => {
    const rows = mongo.collection();
    await rows.createIndex({ a: 1 });
    const many = (length: number) => Array.from({ length }, (_, i) => ({ i }));
    expect(await codeOf(rows.insertOne({ _id: 1 as never, a: many(100_001) }))).to.equal(201);
    expect(await rows.countDocuments({ _id: 1 as never })).to.equal(0);
    await rows.insertOne({ _id: 1 as never, a: many(100_000) });
    expect(await codeOf(rows.updateOne({ _id: 1 as never }, { $push: { a: 'one more' } as never }))).to.equal(201);
    expect(await rows.countDocuments({ a: 'one more' })).to.equal(0);
    const other = mongo.collection();
    await other.insertOne({ a: many(100_001) });
    expect(await codeOf(other.createIndex({ a: 1 }))).to.equal(201);
    await rows.deleteOne({ _id: 1 as never });
    expect(await rows.countDocuments({ 'a.i': 5 })).to.equal(0);
  });
});
