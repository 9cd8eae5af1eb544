/** Packed texts: searching the packed bytes equals searching every text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { foldText } from '../../../../domain/chat/text-search.js';
import { encodeTexts, type Line, Texts } from '../../../../projections/chat/search/packed-text.js';
import { textOf } from '../../../../projections/chat/search/rows.js';

const AUTHORS = ['ada', 'bob', 'cy'];
const words = fc.array(fc.constantFrom('a', 'ab', 'ba', 'éa', '日本', '😀', 'x\ny', 'abab'), {
  maxLength: 4,
});
const line: fc.Arbitrary<Line> = fc.record({
  posted: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
  createdAt: fc.integer({ min: 0, max: 1000 }),
  author: fc.constantFrom(...AUTHORS, undefined),
  run: fc.nat(15),
  text: words.map((some) => some.join(' ')),
});
const word = fc.record({
  text: fc.constantFrom('a', 'b', 'ab', 'bab', 'é', '本', '😀', 'y', 'z'),
  authors: fc.subarray(AUTHORS).map((some) => new Set(some)),
});
const time = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });

describe('packed texts', () => {
  it('decode to the original lines', () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(new Texts(encodeTexts(lines, AUTHORS), AUTHORS).lines()).to.deep.equal(lines);
      }),
    );
  });

  it('own exactly the memory they account for', () => {
    const lines = [{ posted: 1n, createdAt: 1, author: 'ada', run: 0, text: 'short' }];
    const bytes = encodeTexts(lines, AUTHORS);
    expect(bytes.buffer.byteLength).to.equal(bytes.byteLength);
  });

  it('match by substring, author name, author and time like a naive search', () => {
    const query = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 3 }),
      authorId: fc.constantFrom(undefined, ...AUTHORS),
      from: time,
      to: time,
    });
    fc.assert(
      fc.property(fc.array(line), query, (lines, { words: expectedWords, authorId, from = 0, to = 1000 }) => {
        const found = new Texts(encodeTexts(lines, AUTHORS), AUTHORS).find({
          words: expectedWords.map(({ text, authors }) => ({ bytes: Buffer.from(text), authors })),
          authorId,
          from,
          to,
        });
        const isMatch = ({ author, createdAt, text }: Line) =>
          author !== undefined &&
          (authorId ?? author) === author &&
          createdAt >= from &&
          createdAt <= to &&
          expectedWords.every((each) => text.includes(each.text) || each.authors.has(author));
        expect(found).to.deep.equal([...lines.keys()].filter((slot) => isMatch(lines[slot]!)));
      }),
      { numRuns: 500 },
    );
  });

  it('are short enough for 256 of them with n-grams in one document, even if a character folds to 18', () => {
    const names = Array.from({ length: 50 }, () => '漢'.repeat(255));
    for (const letter of ['a', '漢', '한', '\ufdfa', '𝕏', 'a\u0301\u0323']) {
      const content = letter.repeat(8000 / letter.length);
      for (const text of [textOf({ content }), textOf({ content, names })]) {
        expect(256 * (Buffer.byteLength(text) + text.length), letter).to.be.below(16 * 1024 * 1024);
        expect(text).to.include(foldText(letter.repeat(200)));
      }
    }
  });

  it('contain the names of 50 attachments and the end of a long message', () => {
    const names = Array.from({ length: 50 }, (_, n) => `report_${n}_${'q'.repeat(240)}`);
    for (const letter of ['a', 'ß', 'ﬃ']) {
      const text = textOf({ content: `${letter.repeat(7980)} the end`, names: letter === 'ﬃ' ? [] : names });
      expect(text, letter).to.include('the end');
      if (letter !== 'ﬃ') for (const name of names) expect(text).to.include(name);
    }
  });
});
