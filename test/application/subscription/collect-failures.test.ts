/** The failure collector: one failed item does not stop the others, an outage stops all. */
import { expect } from 'chai';
import { UnavailableError } from '../../../application/ports/index.js';
import { collectFailures } from '../../../application/subscription/leader-election.js';

const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

describe('the failure collector', () => {
  it('continues after failures and throws the first one at the end', async () => {
    const all = collectFailures();
    const done: number[] = [];
    const work = async (n: number) => {
      if (n % 2 === 1) throw new Error(`${n} is damaged`);
      done.push(n);
    };
    for (const n of [0, 1, 2, 3, 4]) await all.run(work(n));
    expect(done).to.deep.equal([0, 2, 4]);
    expect(() => all.throwFirst()).to.throw('1 is damaged');
  });

  it('throws nothing without failures', async () => {
    const all = collectFailures();
    await all.run(Promise.resolve());
    expect(() => all.throwFirst()).not.to.throw();
  });

  it('throws immediately if a store is unavailable', async () => {
    const away = new UnavailableError('the store is away');
    expect(await failure(collectFailures().run(Promise.reject(away)))).to.equal(away);
  });
});
