/** Tests order and equality of values in the matcher, in sorts and in indexes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Binary, Double, Int32, Long, ObjectId, Timestamp } from 'mongodb';
import { fixture, ids } from '../../support/mongo-fixture.js';

/** Groups of equal values, in the server's order. */
const ORDER: unknown[][] = [
  [[]],
  [null, undefined],
  [new Double(Number.NaN)],
  [new Double(Number.NEGATIVE_INFINITY)],
  [new Double(-Number.MAX_VALUE)],
  [Long.MIN_VALUE, new Double(-(2 ** 63))],
  [new Int32(-5), new Double(-5)],
  [new Double(0), new Double(-0), new Int32(0)],
  [new Double(Number.MIN_VALUE)],
  [new Double(0.1)],
  [new Int32(5), new Double(5), Long.fromNumber(5)],
  [new Double(2 ** 53), Long.fromString('9007199254740992')],
  [Long.fromString('9007199254740993')],
  [Long.fromString('9007199254740994'), new Double(9007199254740994)],
  [Long.fromString('9223372036854775806')],
  [Long.MAX_VALUE],
  [new Double(2 ** 63)],
  [new Double(Number.POSITIVE_INFINITY)],
  [''],
  ['a'],
  ['a\0'],
  ['a\0b'],
  ['ab'],
  ['b'],
  ['\uffff'],
  ['\u{1f600}'],
  [{}],
  [{ a: 1 }],
  [{ a: 1, b: 1 }],
  [{ a: 2 }],
  [{ b: 1 }],
  [{ a: 'x' }],
  [new Binary(Buffer.from([9]), 0)],
  [new Binary(Buffer.from([9]), 5)],
  [new Binary(Buffer.from([1, 1]), 0)],
  [new ObjectId('000000000000000000000001')],
  [new ObjectId('ff0000000000000000000001')],
  [false],
  [true],
  [new Date(-1)],
  [new Date(0)],
  [new Timestamp({ t: 1, i: 1 })],
];

describe('MongoDB: order of values', () => {
  const mongo = fixture();

  for (const [how, options] of [
    ['in memory', {}],
    ['by an index', { index: 1 }],
    ['by a descending index', { index: -1 }],
  ] as const)
    it(`sorts values of all types ${how}`, async () => {
      const rows = mongo.collection();
      // An array would make the index multikey, and such an index is not used for sorting.
      const sorted = 'index' in options ? ORDER.filter(([v]) => !Array.isArray(v)) : ORDER;
      const documents = sorted.flatMap((equal, rank) => equal.map((v) => (v === undefined ? { rank } : { rank, v })));
      await rows.insertMany(fc.sample(fc.shuffledSubarray(documents, { minLength: documents.length }), 1)[0]!);
      if ('index' in options) await rows.createIndex({ v: options.index });
      for (const direction of [1, -1] as const) {
        const ranks: number[] = [];
        for await (const row of rows.find().sort({ v: direction })) ranks.push(row.rank);
        const expected = documents.map(({ rank }) => rank).sort((a, b) => (a - b) * direction);
        expect(ranks).to.deep.equal(expected);
      }
    });

  it('finds exactly the equal values, with and without an index', async () => {
    const rows = mongo.collection();
    const scalars = ORDER.map((equal, rank) => [equal, rank] as const).filter(([[v]]) => !Array.isArray(v));
    const documents = scalars.flatMap(([equal, rank]) => equal.map((v) => (v === undefined ? { rank } : { rank, v })));
    await rows.insertMany(documents);
    for (let pass = 0; pass < 2; pass++) {
      for (const [equal, rank] of scalars)
        for (const v of equal) {
          const found = await rows.find({ v: v === undefined ? null : v } as never).toArray();
          expect(
            found.map((row) => row.rank),
            String(v),
          ).to.deep.equal(equal.map(() => rank));
        }
      await rows.createIndex({ v: 1 });
    }
  });

  it('limits range comparisons to one type', async () => {
    const rows = mongo.collection();
    await rows.insertMany([4, 6, '6', true, null, new Date(9), Number.NaN].map((v, i) => ({ _id: i as never, v })));
    for (let pass = 0; pass < 2; pass++) {
      const found = (condition: object) => ids(rows.find({ v: condition }).sort({ _id: 1 }));
      expect(await found({ $gt: 5 })).to.deep.equal([1]);
      expect(await found({ $gte: 4 })).to.deep.equal([0, 1]);
      expect(await found({ $lte: 6 })).to.deep.equal([0, 1]);
      expect(await found({ $lt: true })).to.deep.equal([]);
      expect(await found({ $lte: true })).to.deep.equal([3]);
      expect(await found({ $gte: '' })).to.deep.equal([2]);
      expect(await found({ $gte: Number.NaN })).to.deep.equal([6]);
      expect(await found({ $gt: Number.NaN })).to.deep.equal([]);
      expect(await found({ $gte: null })).to.deep.equal([4]);
      expect(await found({ $gt: null })).to.deep.equal([]);
      await rows.createIndex({ v: 1 });
    }
  });

  it('sorts an array by its smallest element ascending and by its largest descending', async () => {
    const rows = mongo.collection();
    await rows.insertMany([
      { _id: 1, v: [5, 1] },
      { _id: 2, v: 3 },
      { _id: 3, v: [] },
      { _id: 4, v: [4, 2] },
    ] as never[]);
    for (let pass = 0; pass < 2; pass++) {
      expect(await ids(rows.find().sort({ v: 1 }))).to.deep.equal([3, 1, 4, 2]);
      expect(await ids(rows.find().sort({ v: -1 }))).to.deep.equal([1, 4, 2, 3]);
      await rows.createIndex({ v: 1 });
    }
  });

  it('treats the field order of an embedded document as part of its value', async () => {
    const rows = mongo.collection();
    await rows.insertMany([{ v: { a: 1, b: 2 } }, { v: { b: 2, a: 1 } }]);
    expect(await rows.countDocuments({ v: { a: 1, b: 2 } })).to.equal(1);
    expect(await rows.countDocuments({ v: { a: Long.fromNumber(1), b: new Double(2) } })).to.equal(1);
  });
});
