/** JSON helpers: objects, nesting depth and exact numbers. */
import { expect } from 'chai';
import fc from 'fast-check';
import { isObject, isShallow, type Json, parseExact, stringifyExact } from '../../../domain/logs/json.js';

const nested = (levels: number): Json => (levels === 0 ? 'leaf' : { a: 1, in: nested(levels - 1), b: true });

describe('JSON helpers', () => {
  it('recognise objects, but not lists, null or scalars', () => {
    expect(isObject({})).to.equal(true);
    for (const other of [[], null, undefined, 'text', 7, true, () => {}]) expect(isObject(other)).to.equal(false);
  });

  it('measure nesting depth', () => {
    const isShallowValue = (value: Json, depth: number) => isShallow(JSON.stringify(value), depth);
    for (const value of ['text', '[[{{', '\\"[[[', 7, true, null]) expect(isShallowValue(value, 0)).to.equal(true);
    expect(isShallowValue({}, 0)).to.equal(false);
    expect(isShallowValue([], 0)).to.equal(false);
    for (const levels of [2, 3, 64]) {
      expect(isShallowValue(nested(levels), levels)).to.equal(true);
      expect(isShallowValue(nested(levels), levels - 1)).to.equal(false);
    }
    // At any place: first, last, in an array, hidden by a later member.
    expect(isShallowValue([1, [2, [3]]], 2)).to.equal(false);
    expect(isShallowValue({ deep: { deeper: {} }, flat: 1 }, 2)).to.equal(false);
    expect(isShallowValue({ flat: 1, deep: { deeper: {} } }, 3)).to.equal(true);
    expect(isShallow('{"a":[[1]],"a":1}', 2)).to.equal(false);
    // Many, but side by side.
    expect(isShallowValue(Array(100).fill({ a: '[[' }), 2)).to.equal(true);
  });

  it('preserve digits of numbers that a double would change, anywhere in the text', () => {
    const numbers = [
      '1234567890123456789',
      '9007199254740993',
      '0.12345678901234567',
      '-12345678901234567',
      '1e400',
      '-1.5E-400',
    ];
    for (const number of numbers) {
      for (let before = 0; before < 40; before++) {
        for (const end of ['', ' ', ',"z":"and so on, for as long as it takes"']) {
          const text = `{"a":"${'x'.repeat(before)}","n":${number}${end}}`;
          const exact = stringifyExact(text, JSON.parse(text));
          expect(exact).to.equal(text.replace(/ (?=})/, ''));
          expect(parseExact(exact)).to.have.property('n', number);
        }
      }
    }
  });

  it('normalize equivalent texts, and keep numeric strings unchanged', () => {
    const same = (text: string) => stringifyExact(text, JSON.parse(text));
    expect(same('{ "a" : 1.0, "b": [1e2, -0] }')).to.equal('{"a":1,"b":[100,0]}');
    expect(same('{"a":"\\u0061","b":1}')).to.equal('{"a":"a","b":1}');
    for (const asSent of ['{"a":1,"a":2}', '{"a":[-0,0.5,1.25,-7,{}],"b":"","c":[]}', '{"ключ":"日本語 e\u0301"}'])
      expect(same(asSent)).to.equal(asSent);
    for (const [text, normal] of [
      ['{"a":1.50}', '{"a":1.5}'],
      ['{"a":0.0}', '{"a":0}'],
      ['{"a":1E2}', '{"a":100}'],
      ['{"a":"\\/"}', '{"a":"/"}'],
      ['{"a":1\n}', '{"a":1}'],
      ['[1,\t2]', '[1,2]'],
    ] as const)
      expect(same(text)).to.equal(normal);
    expect(same('{"id":"12345678901234567890","hash":"3e1a"}')).to.equal('{"id":"12345678901234567890","hash":"3e1a"}');
  });

  it('write numbers of up to 15 digits as JSON.stringify does', () => {
    const digits = fc.stringMatching(/^-?(0|[1-9]\d{0,6})(\.\d{1,8})?$/).filter((text) => text !== '-0');
    fc.assert(
      fc.property(fc.oneof(digits, fc.constantFrom('0.0000001', '0.0000005', '0.000001', '-0.5')), (number) => {
        const text = `{"n":${number}}`;
        expect(stringifyExact(text, JSON.parse(text))).to.equal(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('normalize in time proportional to the length of the text', () => {
    for (const long of ['1,'.repeat(32_000), '"a",'.repeat(16_000), `"${'a'.repeat(64_000)}",`]) {
      const text = `[${long}1.50]`;
      const started = performance.now();
      expect(stringifyExact(text, JSON.parse(text))).to.equal(`[${long}1.5]`);
      expect(performance.now() - started).to.be.below(500);
    }
  });
});
