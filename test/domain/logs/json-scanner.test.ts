/** The JSON scanner: ends of values in long texts, scanned in chunks. */
import { expect } from 'chai';
import fc from 'fast-check';
import { endOfValue, scanItems, skipBlanks } from '../../../domain/logs/json-scanner.js';

const PIECE = 32 * 1024;
/** Lengths around chunk boundaries. */
const length = fc.integer({ min: -9, max: 9 }).chain((off) => fc.constantFrom(70, PIECE + off, 2 * PIECE + off));

describe('the JSON scanner', () => {
  it('finds the end of long strings, with any character at a chunk boundary', () =>
    fc.assert(
      fc.property(length, fc.constantFrom('"', '\\', 'é', '\u0001', '\\u0022'), (long, sign) => {
        const text = JSON.stringify('x'.repeat(long) + sign.repeat(9));
        expect(endOfValue(`${text}, 1`, 0)).to.equal(text.length);
        expect(endOfValue(text.slice(0, -1), 0)).to.equal(-1);
        expect(endOfValue(`${text.slice(0, -1)}\n"`, 0)).to.equal(-1);
      }),
    ));

  it('yields members after long ones', () =>
    fc.assert(
      fc.property(length, (long) => {
        const value = { ['k'.repeat(long)]: 'v'.repeat(long), last: [1] };
        const text = JSON.stringify(value);
        const found = [...scanItems(text, 0)].flatMap((item) => (item ? [item] : []));
        expect(found.map(({ key, from, to }) => [key, JSON.parse(text.slice(from, to))])).to.deep.equal(
          Object.entries(value),
        );
      }),
    ));

  it('skips any number of blanks', () =>
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), (many) => {
        const blanks = ' \n\r\t'.repeat(many);
        expect(skipBlanks(`${blanks}1`, 0)).to.equal(blanks.length);
        expect(skipBlanks(blanks, 0)).to.equal(blanks.length);
      }),
    ));

  /** JSON, or JSON with one character removed, inserted or replaced. */
  const nearly = fc
    .tuple(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.constantFrom('', '{', '}', '[', ']', ',', ':', '"', '\\', '-', '0', '.', 'e', 'x', ' ', '\n'),
      fc.nat(1),
      fc.boolean(),
    )
    .map(([text, where, sign, instead, whole]) => {
      const at = where % (text.length + 1);
      return whole ? text : text.slice(0, at) + sign + text.slice(at + instead);
    });
  const parsed = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  };

  it('accepts exactly the texts that JSON.parse accepts', () =>
    fc.assert(
      fc.property(nearly, (text) => {
        const whole = text.trim();
        expect(endOfValue(whole, 0) === whole.length).to.equal(parsed(whole) !== undefined);
      }),
      { numRuns: 2000 },
    ));

  it('yields the items of lists and objects, and nothing else', () =>
    fc.assert(
      fc.property(nearly, (input) => {
        const text = input.trim();
        const value = parsed(text);
        const scan = scanItems(text, 0);
        const found: [string | undefined, unknown][] = [];
        let next = scan.next();
        for (; !next.done; next = scan.next())
          if (next.value) found.push([next.value.key, parsed(text.slice(next.value.from, next.value.to))]);
        const isWhole = value !== null && typeof value === 'object';
        expect(next.value === text.length).to.equal(isWhole);
        if (Array.isArray(value)) expect(found.map(([, item]) => item)).to.deep.equal(value);
        else if (isWhole) expect(Object.fromEntries(found)).to.deep.equal(value);
      }),
      { numRuns: 2000 },
    ));
});
