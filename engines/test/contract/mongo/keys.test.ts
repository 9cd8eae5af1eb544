/** Tests the order of values: total, exact for numbers, and equal for keys and values. */
import { expect } from 'chai';
import fc from 'fast-check';
import { Binary, Double, Int32, Long, ObjectId } from 'mongodb';
import { compareValues } from '../../../mongo/bson/compare.js';
import { toValue } from '../../../mongo/bson/encode.js';
import { compoundKey, END, keyOf } from '../../../mongo/bson/key.js';

/** A number in one of the types that can represent it, with its exact value in quarters. */
const SCALE = 4n;
const exactNumber = fc.oneof(
  fc.integer({ min: -5, max: 5 }).map((n): [unknown, bigint] => [new Int32(n), BigInt(n) * SCALE]),
  fc.integer({ min: -5, max: 5 }).map((n): [unknown, bigint] => [new Double(n / 4), BigInt(n)]),
  fc
    .bigInt({ min: 2n ** 53n - 4n, max: 2n ** 53n + 4n })
    .map((n): [unknown, bigint] => [Long.fromBigInt(n), n * SCALE]),
  fc
    .bigInt({ min: -(2n ** 53n) - 4n, max: 4n - 2n ** 53n })
    .map((n): [unknown, bigint] => [Long.fromBigInt(n), n * SCALE]),
  fc.integer({ min: -4, max: 4 }).map((n): [unknown, bigint] => {
    const double = 2 ** 53 + 2 * n;
    return [new Double(double), BigInt(double) * SCALE];
  }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n): [unknown, bigint] => [Long.fromBigInt(n), n * SCALE]),
  fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }).map((n): [unknown, bigint] => {
    const double = Number(n);
    return [new Double(double), BigInt(double) * SCALE];
  }),
);

const scalar = fc.oneof(
  exactNumber.map(([value]) => value),
  fc.string({ unit: fc.constantFrom('a', 'b', '\0', '\uffff', '\u{1f600}', 'é') }),
  fc.constantFrom<unknown>(null, true, false, Number.NaN, new ObjectId('0123456789abcdef01234567')),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => new Binary(bytes, 0)),
  fc.date({ noInvalidDate: true }),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'ab'), tie('any'), { maxKeys: 2 }),
  ),
})).any;

const sign = (number: number): number => Math.sign(number);
const HEAD = Buffer.alloc(0);

describe('MongoDB: the order of keys', () => {
  it('is antisymmetric and transitive', () => {
    fc.assert(
      fc.property(value, value, value, (...three) => {
        const [a, b, c] = three.map(toValue) as [
          ReturnType<typeof toValue>,
          ReturnType<typeof toValue>,
          ReturnType<typeof toValue>,
        ];
        expect(sign(compareValues(a, b))).to.equal(-sign(compareValues(b, a)) + 0);
        expect(compareValues(a, a)).to.equal(0);
        if (compareValues(a, b) <= 0 && compareValues(b, c) <= 0) expect(compareValues(a, c)).to.be.at.most(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('is the byte order of the keys, in both directions and with any suffix', () => {
    fc.assert(
      fc.property(value, value, scalar, scalar, (one, other, then, thereafter) => {
        const [a, b, x, y] = [one, other, then, thereafter].map((each) => toValue(each));
        const order = sign(compareValues(a!, b!));
        expect(sign(Buffer.compare(keyOf(a!), keyOf(b!)))).to.equal(order);
        for (const direction of [1, -1]) {
          const key = (...values: (typeof a)[]) => Buffer.concat([compoundKey(HEAD, values, [direction, 1]), END]);
          expect(sign(Buffer.compare(key(a), key(b)))).to.equal(order * direction + 0);
          const expected = order === 0 ? sign(compareValues(x!, y!)) : order * direction;
          expect(sign(Buffer.compare(key(a, x), key(b, y)))).to.equal(expected + 0);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('is exact for numbers of all types', () => {
    fc.assert(
      fc.property(exactNumber, exactNumber, ([a, left], [b, right]) => {
        const exact = left < right ? -1 : left > right ? 1 : 0;
        expect(sign(compareValues(toValue(a), toValue(b))), `${a} and ${b}`).to.equal(exact);
      }),
      { numRuns: 5000 },
    );
  });
});
