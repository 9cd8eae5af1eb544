/** N-grams for word search: a text has all n-grams of the words in it. */
import { expect } from 'chai';
import fc from 'fast-check';
import { foldText, ngramsOf, ngramsOfWord, wordsOf } from '../../../domain/chat/text-search.js';

const passes = (text: string, word: string) => {
  const pieces = new Set<number>();
  ngramsOf(foldText(text), (piece) => pieces.add(piece));
  return ngramsOfWord(word).every((piece) => pieces.has(piece));
};
const text = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.lorem());

/** Spellings that must match each other. */
const SAME: readonly (readonly string[])[] = [
  ['GRÖSSE', 'Größe', 'grosse', 'GROẞE', 'Gro\u0308ße'],
  ['cafe', 'café', 'CAFÉ', 'ｃａｆｅ', 'ＣＡＦＥ\u0301'],
  ['ёлка', 'Елка', 'ЁЛКА'],
  ['ΣΊΣΥΦΟΣ', 'σίσυφος', 'σισυφοσ'],
  ['ｶﾀｶﾅ', 'カタカナ'],
  ['ﬁnal ﬂuﬀ', 'FINAL fluff'],
  ['ſee', 'See'],
  ['Straße №5', 'STRASSE no5'],
  ['DŽ', 'ǆ', 'ǅ'],
  ['İstanbul', 'istanbul'],
  ['한국', '\u1112\u1161\u11ab\u1100\u116e\u11a8'],
];

describe('folded text', () => {
  it('is equal for spellings that differ in case, accents or width', () => {
    for (const [first, ...others] of SAME)
      for (const other of others) expect(foldText(other), other).to.equal(foldText(first!));
    expect(foldText('GRÖSSE')).to.equal('grosse');
    for (const [one, other] of [
      ['grosse', 'grose'],
      ['и', 'е'],
      ['한', '하'],
    ])
      expect(foldText(one!)).not.to.equal(foldText(other!));
  });

  it('is unchanged when folded again, and has no combining marks, for every character', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const folded = foldText(String.fromCodePoint(code));
      if (foldText(folded) !== folded || /\p{M}/u.test(folded)) expect.fail(code.toString(16));
    }
  });
});

describe('the words of a search query', () => {
  it('are split, folded and distinct', () => {
    expect(wordsOf('  Hello\tWORLD hello\u00a0Éa ')).to.deep.equal(['hello', 'world', 'ea']);
    expect(wordsOf(' \n\u3000')).to.deep.equal([]);
    // With a combining accent and precomposed.
    expect(wordsOf('cafe\u0301 caf\u00e9')).to.deep.equal(['cafe']);
  });

  it('pass the filter of every text that contains them', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 12 }), (whole, from, length) => {
        const folded = foldText(whole);
        const start = from % (folded.length + 1);
        for (const word of folded.slice(start, start + length).split(/\s+/u))
          if (word !== '') expect(passes(whole, word), JSON.stringify(word)).to.equal(true);
      }),
    );
  });
});
