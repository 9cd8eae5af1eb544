/** Rate limiters: token buckets, sliding windows, and limiters by name. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import {
  combine,
  createRateLimiters,
  createSlidingWindow,
  createTokenBucket,
} from '../../../application/concurrency/limiters.js';

describe('a token bucket', () => {
  it('allows a burst, then its rate per second', () => {
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

  it('refunds the newest action, and nothing if there is none', () => {
    const limiter = createSlidingWindow(1, 100, clock);
    limiter.consume(-1);
    limiter.consume();
    limiter.consume(-1);
    expect(limiter.wait()).to.equal(0);
    limiter.consume();
    expect(limiter.wait()).to.equal(100);
  });

  it('waits for all actions counted beyond its limit', () => {
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

describe('rate limiters by name', () => {
  it('keep a limit while many other names are only queried', () => {
    const limiterOf = createRateLimiters(() => createSlidingWindow(2, 60_000, { now: () => 0 }));
    for (let n = 0; n < 2; n++) limiterOf('ada').consume();
    expect(limiterOf('ada').wait()).to.equal(60_000);
    for (let n = 0; n < 60_000; n++) limiterOf(`name ${n}`).wait();
    expect(limiterOf('ada').wait()).to.equal(60_000);
    limiterOf('ada').consume(-1);
    expect(limiterOf('ada').wait()).to.equal(0);
  });

  it('are removed once idle, when they equal new ones', async () => {
    let now = 0;
    const clock = { now: () => now };
    const [bucket, window] = [createTokenBucket({ burst: 2, perSecond: 4 }, clock), createSlidingWindow(2, 100, clock)];
    expect([bucket.idleMs(), window.idleMs()]).to.deep.equal([0, 0]);
    for (const limiter of [bucket, window]) limiter.consume(2);
    now += 40;
    window.consume();
    expect([bucket.idleMs(), window.idleMs()]).to.deep.equal([460, 100]);

    const created: string[] = [];
    const limiterOf = createRateLimiters(() => {
      created.push('one');
      return createSlidingWindow(1, 20);
    });
    limiterOf('ada').consume();
    expect([limiterOf('ada').wait() > 0, created.length]).to.deep.equal([true, 1]);
    await eventually(() => limiterOf('ada').wait() === 0 && created.length > 1);
  });
});
