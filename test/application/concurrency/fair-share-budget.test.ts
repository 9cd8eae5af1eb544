/** The fair-share budget: bounded in total, and shared among concurrent callers. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createBudget } from '../../../application/concurrency/limiters.js';

describe('the fair-share budget', () => {
  it('can be used up and released', () => {
    const budget = createBudget('toys', 100);
    const [one, other] = [budget.reserve(), budget.reserve()];
    expect([one.acquire(60), other.acquire(41), other.acquire(40), one.acquire(1)]).to.deep.equal([
      undefined,
      'full',
      undefined,
      'full',
    ]);
    expect(budget.used()).to.equal(100);
    other.giveBack(40);
    expect([one.acquire(41), one.acquire(40), budget.used()]).to.deep.equal(['full', undefined, 100]);
    one.release();
    one.release();
    expect(budget.used()).to.equal(0);
  });

  it('admits any amount while it is unused', () => {
    const budget = createBudget('toys', 100);
    const large = budget.reserve('ada');
    expect(large.acquire(300)).to.equal(undefined);
    expect([budget.reserve('bob').acquire(1), budget.reserve('ada').acquire(1)]).to.deep.equal(['full', 'share']);
    large.release();
    expect([budget.reserve('bob').acquire(1), budget.used()]).to.deep.equal([undefined, 1]);
  });

  it('limits a caller to twice the remaining budget, over all reservations', () => {
    const budget = createBudget('toys', 90);
    const [ada, more, bob] = [budget.reserve('ada'), budget.reserve('ada'), budget.reserve('bob')];
    expect([ada.acquire(30), more.acquire(31), more.acquire(30), ada.acquire(1)]).to.deep.equal([
      undefined,
      'share',
      undefined,
      'share',
    ]);
    expect([bob.acquire(31), bob.acquire(10), bob.acquire(11)]).to.deep.equal(['full', undefined, 'share']);
    more.giveBack(20);
    expect([bob.acquire(20), bob.acquire(4), bob.acquire(3), ada.acquire(1)]).to.deep.equal([
      undefined,
      'share',
      undefined,
      'share',
    ]);
    expect(budget.reserve().acquire(17), 'no share limit without a caller').to.equal(undefined);
    expect([budget.used(), budget.reserve('eve').acquire(1), ada.acquire(1)]).to.deep.equal([90, 'full', 'share']);
  });

  it('forgets a caller who has released everything', () => {
    const budget = createBudget('toys', 90);
    const ada = budget.reserve('ada');
    for (const bytes of [20, 30]) ada.acquire(bytes);
    expect(budget.reserve('bob').acquire(10)).to.equal(undefined);
    ada.release();
    expect(budget.reserve('ada').acquire(80), 'the first reservation has no limit').to.equal(undefined);
  });

  it('always leaves some for a newcomer', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(5)), (callers, order) => {
        const budget = createBudget('toys', 1000);
        const reservations = Array.from({ length: callers }, (_, nth) => budget.reserve(`caller ${nth}`));
        for (const nth of order) reservations[nth % callers]!.acquire(1);
        for (const each of reservations) while (!each.acquire(1));
        expect(budget.used()).to.be.at.most(1000 - Math.floor(1000 / 3 ** callers));
        expect(budget.reserve('newcomer').acquire(1)).to.equal(undefined);
      }),
    );
  });
});
