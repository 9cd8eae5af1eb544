/** Terms are hashes without a key, of words that senders choose: no choice of them may slow down the set of a block. */
import { expect } from 'chai';
import { createTermSet, mixBits } from '../../../../projections/kernel/block-index/term-set.js';

const COUNT = 80_000;
const MULTIPLIER = 0x9e3779b1;

const usual = Array.from({ length: COUNT }, (_, n) => Math.imul(n ^ (n >>> 7), 0x85ebca6b) | 0);

describe('the terms of a block', () => {
  it('are collected as fast if a sender has chosen neighbours in a hash table of products', () => {
    const inverse = inverseOf(MULTIPLIER);
    // Products whose bits 8 to 25 are below 2,000: neighbouring slots in a table of 2^18.
    const crafted = Array.from({ length: COUNT }, (_, n) =>
      Math.imul(((n % 2000) << 8) | (Math.floor(n / 2000) << 26) | (Math.floor(n / 128_000) & 255), inverse),
    );
    msToAdd(usual);
    expect(msToAdd(crafted)).to.be.below(20 * msToAdd(usual) + 50);
  });

  it('are collected as fast if they are neighbours without the random seed', () => {
    const crafted = Array.from({ length: COUNT / 2 }, (_, n) => unmix((n % 500) | (Math.floor(n / 500) << 18)));
    expect(mixBits(crafted[3]!)).to.equal(3);
    msToAdd(usual);
    expect(msToAdd(crafted)).to.be.below(20 * msToAdd(usual) + 50);
  });
});

function msToAdd(terms: readonly number[]): number {
  const set = createTermSet();
  const started = performance.now();
  for (const term of terms) set.add(term, 0);
  return performance.now() - started;
}

/** Inverse of `mixBits`. */
function unmix(mixed: number): number {
  let value = mixed ^ (mixed >>> 16);
  value = Math.imul(value, inverseOf(0xc2b2ae35));
  value ^= (value >>> 13) ^ (value >>> 26);
  value = Math.imul(value, inverseOf(0x85ebca6b));
  return (value ^ (value >>> 16)) | 0;
}

/** Inverse of an odd number modulo 2^32. */
function inverseOf(odd: number): number {
  let inverse = odd;
  for (let step = 0; step < 5; step++) inverse = Math.imul(inverse, 2 - Math.imul(odd, inverse));
  return inverse;
}
