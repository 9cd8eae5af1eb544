/** Token buckets: a burst, then an even rate. */
import { expect } from 'chai';
import { createTokenBucket } from '../../../application/concurrency/token-bucket.js';

describe('a token bucket', () => {
  it('allows a burst, then one after each share of a second', () => {
    let now = 0;
    const bucket = createTokenBucket({ burst: 3, perSecond: 2 }, { now: () => now });
    bucket.consume(3);
    expect(bucket.wait()).to.equal(500);
    now += 499;
    expect(bucket.wait()).to.be.closeTo(1, 0.001);
    now += 1;
    expect(bucket.wait()).to.equal(0);
    bucket.consume(2);
    expect(bucket.wait(), 'below zero').to.equal(1000);
    now += 3_600_000;
    expect(bucket.wait(4), 'never more than a burst').to.equal(500);
  });
});
