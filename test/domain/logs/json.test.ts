/** JSON texts looked at without being built, and numbers that a double can't hold. */
import { expect } from 'chai';
import fc from 'fast-check';
import { exactText, parseExact, tidied } from '../../../domain/logs/json.js';
import { endOfValue, itemsOf, skipBlanks } from '../../../domain/logs/json-scan.js';

const blank = fc.constantFrom('', '', ' ', '\n\t ', '\r\n');

/** The same value, with blanks in all places where they may be. */
const written = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.array(blank, { minLength: 1, maxLength: 7 }))
  .map(([json, blanks]) => {
    let n = 0;
    const some = () => blanks[n++ % blanks.length];
    return json.replace(/"(?:[^"\\]|\\.)*"|[[\]{},:]/g, (sign) => some() + sign + some());
  });

/** Valid JSON with a sign more, less or another. */
const damaged = fc
  .tuple(
    written,
    fc.nat(),
    fc.constantFrom('', '"', '\\', '{', '}', '[', ']', ',', ':', '0', '.', 'e', '-', '\u0001', 'u'),
  )
  .map(
    ([text, at, sign]) => text.slice(0, at % text.length) + sign + text.slice((at % text.length) + (at % 2)),
  );

const isJson = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const isWhole = (text: string) => {
  const end = endOfValue(text, 0);
  return end > 0 && skipBlanks(text, end) === text.length;
};

describe('a JSON text', () => {
  it('ends where its value does, and is none where it is damaged', () => {
    fc.assert(
      fc.property(fc.oneof(written, damaged), (text) => {
        expect(isWhole(text), text).to.equal(isJson(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('gives what stands in it, one by one', () => {
    fc.assert(
      fc.property(written, (text) => {
        const value = JSON.parse(text);
        if (typeof value !== 'object' || value === null) return;
        const from = skipBlanks(text, 0);
        const items = [...itemsOf(text, from)];
        const parsed = items.map((item) => JSON.parse(text.slice(item.from, item.to)));
        if (Array.isArray(value)) expect(parsed).to.deep.equal(value);
        else {
          const members = items.map(({ key }, index) => [key, parsed[index]] as const);
          expect(new Map(members)).to.deep.equal(new Map(Object.entries(value)));
        }
      }),
    );
  });

  it('is followed to any depth', () => {
    const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000);
    expect(endOfValue(deep, 0)).to.equal(2_000_000);
    expect(endOfValue(deep.slice(1), 0)).to.equal(1_999_998);
  });
});

describe('the text of a record', () => {
  const number = fc.oneof(
    fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.tuple(fc.nat(9), fc.nat(), fc.integer({ min: -400, max: 400 })).map(([a, b, e]) => `${a}.${b}E${e}`),
  );

  it('says the same without blanks, its numbers as they came', () => {
    fc.assert(
      fc.property(written, fc.array(number, { minLength: 1 }), (other, numbers) => {
        const text = `{ "n" : [ ${numbers.join(' , ')} ], "other": ${other} }`;
        const tidy = exactText(text, JSON.parse(text));
        expect(JSON.parse(tidy)).to.deep.equal(JSON.parse(text));
        expect(tidied(tidy)).to.equal(tidy);
        const shown = [...itemsOf(tidy, 5)].map(({ from, to }) => tidy.slice(from, to));
        for (const [index, each] of shown.entries())
          expect(decimalOf(each)).to.deep.equal(decimalOf(numbers[index]!));
      }),
    );
  });

  it('is what JSON.stringify writes where a double holds all its numbers', () => {
    for (const text of [
      '{"a":1e3}',
      '{"a":500.0}',
      '{"a":0.30000000000000004}',
      '{"u":"1e3 \\/ \\u00e9 1234567890123456"}',
    ])
      expect(exactText(text, JSON.parse(text)), text).to.equal(JSON.stringify(JSON.parse(text)));
  });

  it('is read with the numbers that a double would change as texts', () => {
    const text =
      '{"id":9007199254740993,"safe":9007199254740991,"b":"12345678901234567890 \\" 9","c":[-1e400,1e+21]}';
    expect(parseExact(text)).to.deep.equal({
      id: '9007199254740993',
      safe: 9007199254740991,
      b: '12345678901234567890 " 9',
      c: ['-1e400', 1e21],
    });
  });
});

/** A decimal as its digits without zeros at its ends, and its place. */
function decimalOf(text: string): { sign: boolean; digits: string; exponent: number } {
  const [, minus = '', whole = '', rest = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + rest).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { sign: false, digits: '', exponent: 0 };
  return {
    sign: minus !== '',
    digits,
    exponent: Number(exponent) - rest.length + all.length - digits.length,
  };
}
