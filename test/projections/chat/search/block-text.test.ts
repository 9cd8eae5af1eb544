/** Folded texts of a block: searching their bytes equals searching every text. */
import { expect } from 'chai';
import fc from 'fast-check';
import { foldText } from '../../../../domain/chat/text-search.js';
import { blockText, findDocs } from '../../../../projections/chat/search/block-text.js';
import { type Doc, textOf } from '../../../../projections/chat/search/blocks.js';

const AUTHORS = ['ada', 'bob', 'cy'];
const words = fc.array(fc.constantFrom('a', 'ab', 'ba', 'éa', '日本', '😀', 'x\ny', 'abab'), {
  maxLength: 4,
});
const doc: fc.Arbitrary<Doc> = fc.record({
  id: fc.constant('m'),
  posted: fc.constant('1'),
  changed: fc.constant('1'),
  createdAt: fc.integer({ min: 0, max: 1000 }),
  author: fc.constantFrom(...AUTHORS),
  content: words.map((some) => some.join(' ')),
});
const word = fc.record({
  text: fc.constantFrom('a', 'b', 'ab', 'bab', 'é', '本', '😀', 'y', 'z'),
  authors: fc.subarray(AUTHORS).map((some) => new Set(some)),
});
const time = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: undefined });

describe('the texts of a block', () => {
  it('match by substring, author name, author and time like a naive search', async () => {
    const query = fc.record({
      words: fc.array(word, { minLength: 1, maxLength: 3 }),
      authorId: fc.constantFrom(undefined, ...AUTHORS),
      from: time,
      to: time,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(doc), query, async (docs, { words: expectedWords, authorId, from = 0, to = 1000 }) => {
        const compiled = { words: expectedWords.map(({ text, authors }) => ({ bytes: Buffer.from(text), authors })) };
        const found = findDocs(await blockText(Buffer.from(docs.map((each) => JSON.stringify(each)).join('\n'))), {
          ...compiled,
          authorId,
          from,
          to,
        });
        const isMatch = (each: Doc) =>
          (authorId ?? each.author) === each.author &&
          each.createdAt >= from &&
          each.createdAt <= to &&
          expectedWords.every(({ text, authors }) => textOf(each).includes(text) || authors.has(each.author));
        expect(found).to.deep.equal(docs.filter(isMatch));
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
