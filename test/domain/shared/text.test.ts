/** Normalization of short texts, and constant-time comparison of secrets. */

import { expect } from 'chai';
import fc from 'fast-check';
import { sameText, tidy } from '../../../domain/shared/index.js';

describe('a normalized text', () => {
  it('is trimmed, with collapsed white space, and truncated to whole characters', () => {
    expect(tidy('  Ada \t\n Lovelace  ', 40)).to.equal('Ada Lovelace');
    expect(tidy('a b', 2)).to.equal('a');
    expect(tidy('  ab', 2)).to.equal('ab');
    expect(tidy('👩‍🚀🚀🚀', 1)).to.equal('👩');
    expect(tidy('abc', 3)).to.equal('abc');
    expect(tidy(' \n ', 5)).to.equal('');
  });

  it('respects its maximum length and is unchanged when normalized again', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, most) => {
        const tidied = tidy(text, most);
        expect([...tidied].length).to.be.at.most(most);
        expect(tidied)
          .to.equal(tidied.trim())
          .and.not.match(/\s\s|[\t\n]/u);
        expect(tidy(tidied, most)).to.equal(tidied);
      }),
    );
  });
});

describe('a secret', () => {
  it('equals only itself: no prefix, extension or empty string', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (secret, other) => {
        expect(sameText(secret, secret)).to.equal(true);
        expect(sameText(secret, other)).to.equal(secret === other);
        expect(sameText(secret, secret.slice(0, -1))).to.equal(false);
        expect(sameText(secret.slice(0, -1), secret)).to.equal(false);
        expect(sameText(secret, `${secret}x`)).to.equal(false);
        expect(sameText(secret, '')).to.equal(false);
      }),
    );
    expect(sameText('', '')).to.equal(true);
    expect(sameText('abc', 'abd')).to.equal(false);
    expect(sameText('abc', 'bbc')).to.equal(false);
  });
});
