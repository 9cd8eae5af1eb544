/** Work on many things: what is damaged keeps none of the others, and a store that is away keeps all. */
import { expect } from 'chai';
import { UnavailableError } from '../../../application/ports/index.js';
import { collectFailures } from '../../../application/subscription/leader-election.js';

const failure = (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error);

describe('work on one after the other', () => {
  it('goes on past what fails, and says at the end with what the first did', async () => {
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

  it('says nothing at the end where nothing has failed', async () => {
    const all = collectFailures();
    await all.run(Promise.resolve());
    expect(() => all.throwFirst()).not.to.throw();
  });

  it('ends at once where a store is away', async () => {
    const away = new UnavailableError('the store is away');
    expect(await failure(collectFailures().run(Promise.reject(away)))).to.equal(away);
  });
});
