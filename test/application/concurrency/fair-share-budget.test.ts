/** A budget that all share: never more than there is, and nobody has all of it while others want some. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';

describe('a budget', () => {
  it('is taken up to its last piece, and given back', () => {
    const budget = createBudget('toys', 100);
    const [one, other] = [budget.hold(), budget.hold()];
    expect([one.take(60), other.take(41), other.take(40), one.take(1)]).to.deep.equal([
      undefined,
      'full',
      undefined,
      'full',
    ]);
    expect(budget.used()).to.equal(100);
    other.give(40);
    expect([one.take(41), one.take(40), budget.used()]).to.deep.equal(['full', undefined, 100]);
    one.release();
    one.release();
    expect(budget.used()).to.equal(0);
  });

  it('is there for any amount while nobody has any of it', () => {
    const budget = createBudget('toys', 100);
    const large = budget.hold('ada');
    expect(large.take(300)).to.equal(undefined);
    expect([budget.hold('bob').take(1), budget.hold('ada').take(1)]).to.deep.equal(['full', 'share']);
    large.release();
    expect([budget.hold('bob').take(1), budget.used()]).to.deep.equal([undefined, 1]);
  });

  it('gives nobody more than twice what is left for the others, in however many pieces', () => {
    const budget = createBudget('toys', 90);
    const [ada, more, bob] = [budget.hold('ada'), budget.hold('ada'), budget.hold('bob')];
    expect([ada.take(30), more.take(31), more.take(30), ada.take(1)]).to.deep.equal([
      undefined,
      'share',
      undefined,
      'share',
    ]);
    expect([bob.take(31), bob.take(10), bob.take(11)]).to.deep.equal(['full', undefined, 'share']);
    more.give(20);
    expect([bob.take(20), bob.take(4), bob.take(3), ada.take(1)]).to.deep.equal([
      undefined,
      'share',
      undefined,
      'share',
    ]);
    expect(budget.hold().take(17), 'what is nobody’s has no share').to.equal(undefined);
    expect([budget.used(), budget.hold('eve').take(1), ada.take(1)]).to.deep.equal([90, 'full', 'share']);
  });

  it('forgets who has given all back', () => {
    const budget = createBudget('toys', 90);
    const ada = budget.hold('ada');
    for (const bytes of [20, 30]) ada.take(bytes);
    expect(budget.hold('bob').take(10)).to.equal(undefined);
    ada.release();
    expect(budget.hold('ada').take(80), 'the first may be of any size').to.equal(undefined);
  });

  it('has some left for one who comes, however many want all of it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(5)), (callers, order) => {
        const budget = createBudget('toys', 1000);
        const held = Array.from({ length: callers }, (_, nth) => budget.hold(`caller ${nth}`));
        for (const nth of order) held[nth % callers]!.take(1);
        for (const each of held) while (!each.take(1));
        expect(budget.used()).to.be.at.most(1000 - Math.floor(1000 / 3 ** callers));
        expect(budget.hold('newcomer').take(1)).to.equal(undefined);
      }),
    );
  });
});
