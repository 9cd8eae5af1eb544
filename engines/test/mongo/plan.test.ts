/** Tests which access path the MongoDB engine chooses for a query. */
import { expect } from 'chai';
import { encode } from '../../mongo/bson/encode.js';
import { documentValue } from '../../mongo/bson/value.js';
import { parseFilter } from '../../mongo/query/filter.js';
import { planFor } from '../../mongo/query/plan.js';
import { parseSort } from '../../mongo/query/sort.js';
import type { Collection } from '../../mongo/storage/collection.js';
import { openIndex } from '../../mongo/storage/definition.js';
import { spaceHead } from '../../mongo/storage/layout.js';

const index = (space: number, key: object, options: object = {}) =>
  openIndex(encode({ v: 2, key, name: Object.keys(key).join(), ...options }), { space });

const collection: Collection = {
  space: 1,
  head: spaceHead(1),
  uuid: Buffer.alloc(16),
  namespace: 'toys.boxes',
  indexes: [
    index(2, { t: 1, at: -1 }),
    { ...index(3, { terms: 1 }), multikey: [true] },
    index(4, { s: 1 }, { sparse: true }),
  ],
  count: 0,
  flushedCount: 0,
  dropped: false,
  longIds: false,
};

describe('MongoDB: plans', () => {
  const CASES: [filter: object, sort: object, stage: string, index: string | undefined, sorted: boolean][] = [
    [{ _id: 1 }, {}, 'IDHACK', undefined, true],
    [{ _id: { $in: [1, 2] } }, { _id: -1 }, 'IDHACK', undefined, true],
    [{ _id: { $gt: 1 } }, { _id: 1 }, 'IXSCAN', undefined, true],
    [{ t: 1 }, {}, 'IXSCAN', 't,at', true],
    [{ t: 1, at: { $gt: 5 } }, {}, 'IXSCAN', 't,at', true],
    [{ t: { $in: [0, 1] } }, {}, 'IXSCAN', 't,at', true],
    [{ t: 1 }, { at: 1 }, 'IXSCAN', 't,at', true],
    [{ t: 1 }, { at: -1 }, 'IXSCAN', 't,at', true],
    [{ t: { $in: [0, 1] } }, { at: 1 }, 'IXSCAN', 't,at', false],
    [{ t: 1 }, { terms: 1 }, 'IXSCAN', 't,at', false],
    [{ $and: [{ terms: 'w1' }, { terms: 'x' }] }, {}, 'IXSCAN', 'terms', true],
    [{ s: 1 }, {}, 'IXSCAN', 's', true],
    [{ s: { $exists: true } }, { s: 1 }, 'IXSCAN', 's', true],
    [{ s: { $exists: false } }, {}, 'COLLSCAN', undefined, true],
    [{ other: 1 }, {}, 'COLLSCAN', undefined, true],
    [{ $or: [{ t: 1 }, { other: 1 }] }, {}, 'COLLSCAN', undefined, true],
  ];
  for (const [filter, sort, stage, name, sorted] of CASES)
    it(`reads ${JSON.stringify(filter)} in the order of ${JSON.stringify(sort)} by ${name ?? stage}`, () => {
      const [parsed, order] = [documentValue(encode(filter)), documentValue(encode(sort))];
      const plan = planFor(collection, parseFilter(parsed), parseSort(order));
      expect([plan.stage, plan.index?.name, plan.sorted]).to.deep.equal([stage, name, sorted]);
    });
});
