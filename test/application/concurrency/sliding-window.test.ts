/** Sliding windows, and limiters by name. */
import { expect } from 'chai';
import { combine, createRateLimiters } from '../../../application/concurrency/rate-limiter.js';
import { createSlidingWindow } from '../../../application/concurrency/sliding-window.js';
import { createTokenBucket } from '../../../application/concurrency/token-bucket.js';

describe('a sliding window', () => {
  let now = 0;
  const clock = { now: () => now };
  beforeEach(() => {
    now = 1000;
  });

  it('allows its limit within any span of its length', () => {
    const limiter = createSlidingWindow(2, 100, clock);
    limiter.consume();
    now += 60;
    expect(limiter.wait()).to.equal(0);
    expect(limiter.wait(2)).to.equal(40);
    limiter.consume();
    expect(limiter.wait()).to.equal(40);
    now += 40;
    expect(limiter.wait()).to.equal(0);
    limiter.consume();
    expect(limiter.wait()).to.equal(60);
  });

  it('takes back the newest action, and nothing where there is none', () => {
    const limiter = createSlidingWindow(1, 100, clock);
    limiter.consume(-1);
    limiter.consume();
    limiter.consume(-1);
    expect(limiter.wait()).to.equal(0);
    limiter.consume();
    expect(limiter.wait()).to.equal(100);
  });

  it('waits for all that were counted beyond its limit', () => {
    const limiter = createSlidingWindow(2, 100, clock);
    for (const at of [0, 10, 20]) {
      now = 1000 + at;
      limiter.consume();
    }
    expect(limiter.wait()).to.equal(90);
  });
});

describe('rate limiters', () => {
  const clock = { now: () => 0 };

  it('count each name by itself', () => {
    const limiterOf = createRateLimiters(() => createSlidingWindow(1, 100, clock));
    limiterOf('a').consume();
    expect(limiterOf('a').wait()).to.equal(100);
    expect(limiterOf('b').wait()).to.equal(0);
  });

  it('are combined into one that waits for the slowest', () => {
    const slow = createSlidingWindow(1, 5000, clock);
    const both = combine(createTokenBucket({ burst: 1, perSecond: 1 }, clock), slow);
    expect(both.wait()).to.equal(0);
    both.consume();
    expect(both.wait()).to.equal(5000);
  });
});
