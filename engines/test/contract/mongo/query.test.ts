/** Tests filters: each operator, and the same results with every index. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Document, Double, Long } from 'mongodb';
import { codeOf, fixture, ids } from '../../support/mongo-fixture.js';

/** Few names and values, so that they often match. */
const scalar = fc.oneof(
  fc.integer({ min: -2, max: 3 }),
  fc.constantFrom('', 'a', 'b', 'ab'),
  fc.constantFrom<unknown>(null, true, false, new Date(0), new Date(5)),
  fc.constantFrom<unknown>(new Double(1.5), Long.fromString('9007199254740993'), Number.NaN),
);
const embedded = fc.record({ x: scalar, y: scalar }, { requiredKeys: [] });
const value = fc.oneof(scalar, fc.array(scalar, { maxLength: 3 }), embedded, fc.array(embedded, { maxLength: 2 }));
const documents = fc.array(fc.record({ a: value, b: scalar }, { requiredKeys: [] }), {
  minLength: 1,
  maxLength: 25,
});

const path = fc.constantFrom('a', 'b', 'a.x', 'a.y');
const comparison = fc.oneof(
  scalar,
  fc
    .tuple(fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'), scalar)
    .map(([op, operand]) => ({ [op]: operand })),
  fc.tuple(scalar, scalar).map(([low, high]) => ({ $gte: low, $lt: high })),
  fc.array(scalar, { maxLength: 3 }).map((list) => ({ $in: list })),
  fc.boolean().map((exists) => ({ $exists: exists })),
);
const clause = fc.tuple(path, comparison).map(([name, condition]) => ({ [name]: condition }));
const filter = fc.oneof(
  { weight: 3, arbitrary: clause },
  fc.array(clause, { minLength: 1, maxLength: 3 }).map((parts) => ({ $and: parts })),
  fc.array(clause, { minLength: 1, maxLength: 3 }).map((parts) => ({ $or: parts })),
);
const INDEXES: Document[] = [
  { key: { a: 1 } },
  { key: { b: -1 } },
  { key: { 'a.x': 1, b: 1 } },
  { key: { b: 1, a: -1 } },
  { key: { 'a.x': -1, 'a.y': 1 } },
  { key: { a: -1 }, name: 'sparse', sparse: true },
];

describe('MongoDB: queries', () => {
  const mongo = fixture();

  it('finds the same documents with every index as with none', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(documents, fc.array(filter, { minLength: 20, maxLength: 20 }), async (rows, filters) => {
        const plain = mongo.collection();
        await plain.insertMany(rows.map((row, _id) => ({ ...row, _id: _id as never })));
        const expected = await Promise.all(filters.map((one) => ids(plain.find(one as never).sort({ _id: 1 }))));
        for (const [i, index] of INDEXES.entries()) {
          const { key, ...options } = index;
          await plain.createIndex(key, { ...options, name: `i${i}` }).catch((error) => {
            expect(error.code).to.be.oneOf([171, 85]);
          });
          for (const [k, one] of filters.entries())
            expect(
              await ids(plain.find(one as never).sort({ _id: 1 })),
              JSON.stringify([rows, one, key]),
            ).to.deep.equal(expected[k]);
        }
        await plain.drop();
      }),
      { numRuns: Number(process.env.RUNS ?? 12) },
    );
  });

  it('obeys the law of logic: two filters and either of them match as many as each alone', async function () {
    this.timeout(120_000);
    await fc.assert(
      fc.asyncProperty(documents, filter, filter, async (rows, one, other) => {
        const all = mongo.collection();
        await all.insertMany(rows.map((row, _id) => ({ ...row, _id: _id as never })));
        const count = (filter: object) => all.countDocuments(filter as never);
        const yes = await count(one);
        const [both, either] = [await count({ $and: [one, other] }), await count({ $or: [one, other] })];
        expect(both + either).to.equal(yes + (await count(other)));
        await all.drop();
      }),
      { numRuns: 25 },
    );
  });

  const MATCHES: [name: string, document: object, matching: object[], failing: object[]][] = [
    [
      'matches arrays by element and as a whole',
      { a: [1, [2, 3], { b: 4 }] },
      [{ a: 1 }, { a: [2, 3] }, { 'a.b': 4 }, { a: [1, [2, 3], { b: 4 }] }],
      [{ a: 2 }, { a: [1] }],
    ],
    [
      'matches missing fields with null',
      { a: null, s: 5, l: [{ x: 1 }, {}], e: [] },
      [{ a: null }, { z: null }, { 's.t': null }, { 'l.x': null }, { z: { $in: [null] } }, { z: { $lte: null } }],
      [{ s: null }, { a: { $ne: null } }, { 'e.x': null }, { z: { $gt: null } }, { e: null }],
    ],
    [
      'tests whether a field exists',
      { a: null, l: [{ x: 1 }], e: [] },
      [
        { a: { $exists: true } },
        { z: { $exists: false } },
        { 'l.x': { $exists: true } },
        { e: { $exists: 1 } },
        { 'e.x': { $exists: 0 } },
      ],
      [{ z: { $exists: true } }, { a: { $exists: false } }],
    ],
    [
      'negates the whole condition, over all elements',
      { a: [1, 2] },
      [{ a: { $ne: 3 } }, { z: { $ne: 1 } }],
      [{ a: { $ne: 1 } }],
    ],
    [
      'lets different elements meet two conditions',
      { a: [1, 9], d: [{ x: 1 }, { x: 2, y: 1 }], n: [[1]] },
      [{ a: { $gt: 5, $lt: 2 } }, { 'd.x': 1, 'd.y': 1 }, { n: [1] }],
      [{ a: { $gt: 9, $lt: 2 } }],
    ],
    [
      'matches embedded documents exactly',
      { a: { x: 1, y: 2 } },
      [{ a: { x: 1, y: 2 } }, { 'a.x': 1 }],
      [{ a: { y: 2, x: 1 } }, { a: { x: 1 } }],
    ],
  ];
  for (const [name, document, matching, failing] of MATCHES)
    it(name, async () => {
      const rows = mongo.collection();
      await rows.insertOne({ ...document });
      for (const one of matching) expect(await rows.countDocuments(one), JSON.stringify(one)).to.equal(1);
      for (const one of failing) expect(await rows.countDocuments(one), JSON.stringify(one)).to.equal(0);
    });

  it('refuses unknown operators and invalid operands', async () => {
    const rows = mongo.collection();
    const wrong = [
      { $foo: 1 },
      { a: { $foo: 1 } },
      { $and: [] },
      { $or: {} },
      { $or: [1] },
      { a: { $in: 1 } },
      { a: { $gt: 1, $foo: 2 } },
      { a: { $in: [{ $gt: 1 }] } },
    ];
    for (const one of wrong) expect(await codeOf(rows.findOne(one as never)), JSON.stringify(one)).to.equal(2);
  });

  it('refuses invalid sorts', async () => {
    const rows = mongo.collection();
    await rows.insertOne({ a: 1 });
    expect(await codeOf(mongo.db.command({ find: rows.collectionName, sort: { a: 2 } }))).to.be.oneOf([2, 15975]);
    expect(await codeOf(mongo.db.command({ find: rows.collectionName, filter: 5 }))).to.be.oneOf([9, 14]);
  });
});
