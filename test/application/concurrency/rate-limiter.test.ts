/** Rate limiters by name: what is kept of whom. */
import { expect } from 'chai';
import { createRateLimiters } from '../../../application/concurrency/rate-limiter.js';
import { createSlidingWindow } from '../../../application/concurrency/sliding-window.js';

describe('rate limiters by name', () => {
  it('forget nobody because of names that are only asked about', () => {
    const limiterOf = createRateLimiters(() => createSlidingWindow(2, 60_000, { now: () => 0 }));
    for (let n = 0; n < 2; n++) limiterOf('ada').consume();
    expect(limiterOf('ada').wait()).to.equal(60_000);
    for (let n = 0; n < 60_000; n++) limiterOf(`name ${n}`).wait();
    expect(limiterOf('ada').wait()).to.equal(60_000);
    limiterOf('ada').consume(-1);
    expect(limiterOf('ada').wait()).to.equal(0);
  });
});
