/** Signed tokens: verification accepts the exact text only. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSignedTokens } from '../../../adapters/crypto/signed-tokens.js';
import { alteredTokens } from './forged-tokens.js';

describe('signed tokens', () => {
  const signed = createSignedTokens(randomBytes(32));
  const claims = { iat: 1, exp: 2, sub: 'ada' };

  it('are accepted only unmodified', async () => {
    const token = await signed.sign(claims);
    expect(await signed.read(token)).to.deep.equal(claims);
    for (const altered of alteredTokens(token)) expect(await signed.read(altered), altered).to.equal(undefined);
  });

  it('are rejected under another key', async () => {
    const other = createSignedTokens(randomBytes(32));
    expect(await other.read(await signed.sign(claims))).to.equal(undefined);
  });
});
