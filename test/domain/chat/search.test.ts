/** How words are found by their pieces: whatever is in a text passes its filter. */
import { expect } from 'chai';
import fc from 'fast-check';
import { filterOf, foldText, mayHave, piecesOf, piecesOfWord, wordsOf } from '../../../domain/chat/search.js';

const filterFor = (text: string) => {
  const pieces = new Set<number>();
  piecesOf(foldText(text), (piece) => pieces.add(piece));
  return filterOf(pieces);
};
const passes = (text: string, word: string) => {
  const filter = filterFor(text);
  return piecesOfWord(word).every((piece) => mayHave(filter, piece));
};
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.lorem());

describe('words that are asked for', () => {
  it('are parts of a query, folded, each once', () => {
    expect(wordsOf('  Hello\tWORLD hello\u00a0Éa ')).to.deep.equal(['hello', 'world', 'éa']);
    expect(wordsOf(' \n\u3000')).to.deep.equal([]);
    // Written with a combining accent or without.
    expect(wordsOf('caf\u0065\u0301')).to.deep.equal(['caf\u00e9']);
  });

  it('pass the filter of every text that they are a part of', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 12 }), (whole, from, length) => {
        const folded = foldText(whole);
        const start = from % (folded.length + 1);
        for (const word of folded.slice(start, start + length).split(/\s+/u))
          if (word !== '') expect(passes(whole, word), JSON.stringify(word)).to.equal(true);
      }),
    );
  });

  it('are mostly ruled out where they are not', () => {
    const words = Array.from({ length: 2000 }, (_, index) => `w${(index * 7919).toString(36)}`);
    const filter = filterFor(words.join(' '));
    const strangers = Array.from({ length: 500 }, (_, index) => `${index}#${index}`);
    const passing = strangers.filter((each) => piecesOfWord(each).every((piece) => mayHave(filter, piece)));
    expect(passing.length).to.be.below(25);
  });
});
